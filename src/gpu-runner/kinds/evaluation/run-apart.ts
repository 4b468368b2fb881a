import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Scores } from "../../../protocol/wire/distribution.ts";
import type { RecordRequest } from "./record-episodes.ts";
import type { ScoreRequest } from "./score-task.ts";

/** Runs a worker file in its own thread with plain data and returns its one message. An aborted signal ends it. */
async function runThread<Outcome>(file: URL, workerData: unknown, signal: AbortSignal): Promise<Outcome> {
  const worker = new Worker(file, { workerData });
  try {
    const [outcome] = (await once(worker, "message", { signal })) as [Outcome];
    return outcome;
  } finally {
    await worker.terminate();
  }
}

/** Records episodes in a thread of its own; see `recordEpisodes`. An aborted signal ends it. */
export function recordApart(request: RecordRequest, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  return runThread(new URL("record-worker.ts", import.meta.url), request, signal);
}

/** Scores entrants in a thread of its own; see `scoreReturns`. An aborted signal ends it. */
export function scoreApart(requests: readonly ScoreRequest[], signal: AbortSignal): Promise<Scores[]> {
  return runThread(new URL("score-worker.ts", import.meta.url), requests, signal);
}
