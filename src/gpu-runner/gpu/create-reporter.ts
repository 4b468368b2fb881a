import type { JobProgress } from "../../protocol/job.ts";
import { ProblemError } from "../../protocol/problem.ts";

const PROGRESS_INTERVAL_MS = 200;

/** Progress of a phase, told when it begins and then a few times a second; throws once the signal is aborted. */
export function createReporter(onProgress: (progress: JobProgress) => void, signal: AbortSignal) {
  return (phase: string) => {
    let nextAt = 0;
    return (done: number, total: number) => {
      if (signal.aborted) throw new ProblemError("cancelled", "The benchmark was cancelled");
      if (performance.now() < nextAt) return;
      nextAt = performance.now() + PROGRESS_INTERVAL_MS;
      onProgress({ phase, done, total });
    };
  };
}
