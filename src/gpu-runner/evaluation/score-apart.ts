import type { Scores } from "../../protocol/score.ts";
import { runThread } from "./run-thread.ts";
import type { ScoreRequest } from "./score-task.ts";

/** Scores entrants in a thread of its own; see `scoreReturns`. An aborted signal ends it. */
export function scoreApart(requests: readonly ScoreRequest[], signal: AbortSignal): Promise<Scores[]> {
  return runThread(new URL("score-worker.ts", import.meta.url), requests, signal);
}
