import type { JobProgress } from "../../protocol/job.ts";
import { throttleProgress } from "../throttle-progress.ts";
import { assertWanted } from "./assert-wanted.ts";

/** Progress of a phase, told when it begins and then a few times a second; throws once the signal is aborted. */
export function createReporter(onProgress: (progress: JobProgress) => void, signal: AbortSignal) {
  const tell = throttleProgress(onProgress);
  return (phase: string, details: Omit<JobProgress, "phase" | "done" | "total"> = {}) =>
    (done: number, total: number) => {
      assertWanted(signal);
      tell({ phase, done, total, ...details });
    };
}
