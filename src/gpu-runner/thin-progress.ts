import type { JobProgress } from "../protocol/job.ts";

/** By how much of the time that has passed the next progress comes later. */
const SHARE = 0.005;

/**
 * Passes on progress ever more seldom, for work that may take a day: every progress is kept, and of a training all
 * together are its curve. It comes to some 200 for each e-fold of time. What ends the work is passed on.
 */
export function thinProgress(
  onProgress: (progress: JobProgress) => void,
  nowMs: () => number,
): (progress: JobProgress) => void {
  const startedMs = nowMs();
  let nextMs = startedMs;
  return (progress) => {
    const atMs = nowMs();
    if (atMs < nextMs && progress.done < progress.total) return;
    nextMs = atMs + SHARE * (atMs - startedMs);
    onProgress(progress);
  };
}
