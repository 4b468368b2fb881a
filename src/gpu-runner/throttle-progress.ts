import type { JobProgress } from "../protocol/job.ts";

const PROGRESS_EVERY_MS = 200;

/** Passes on the first progress of each phase, and then a few a second. */
export function throttleProgress(onProgress: (progress: JobProgress) => void): (progress: JobProgress) => void {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  let phase = "";
  return (progress) => {
    if (progress.phase === phase && performance.now() - toldAtMs < PROGRESS_EVERY_MS) return;
    toldAtMs = performance.now();
    phase = progress.phase;
    onProgress(progress);
  };
}
