import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Scores } from "../../protocol/score.ts";
import type { ScoreRequest } from "./score-task.ts";

/** Scores entrants in a thread of its own; see `scoreReturns`. An aborted signal ends it. */
export async function scoreApart(requests: readonly ScoreRequest[], signal: AbortSignal): Promise<Scores[]> {
  const worker = new Worker(new URL("score-worker.ts", import.meta.url), { workerData: requests });
  try {
    const [scores] = (await once(worker, "message", { signal })) as [Scores[]];
    return scores;
  } finally {
    await worker.terminate();
  }
}
