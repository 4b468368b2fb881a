import type { JobProgress } from "../../protocol/jobs/job.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";

/** The ways in which a call of a device process speaks to its caller while it runs. */
export interface CallContext {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: JobProgress) => void;
  /** Takes a file from which the call could go on in another life. */
  readonly onCheckpoint: (file: Uint8Array<ArrayBuffer>) => void;
}

/** Throws `cancelled` once the job is cancelled. */
export function assertWanted(signal: AbortSignal): void {
  if (signal.aborted) throw new ProblemError("cancelled", "The job was cancelled");
}

const PROGRESS_EVERY_MS = 200;
/** In the long run; the edge closes a connection with too much progress, and phases may follow each other quickly. */
const PHASE_EVERY_MS = 20;
/** Time by which phases may be ahead of that: fifty at once. */
const PHASES_AHEAD_MS = 1_000;

/** Passes on the first progress of each phase, if they are not too many, and then a few per second. */
export function throttleProgress(onProgress: (progress: JobProgress) => void): (progress: JobProgress) => void {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  let phase = "";
  let phaseDueMs = 0;
  return (progress) => {
    const nowMs = performance.now();
    const isNew = progress.phase !== phase;
    if (isNew ? phaseDueMs - nowMs > PHASES_AHEAD_MS : nowMs - toldAtMs < PROGRESS_EVERY_MS) return;
    if (isNew) phaseDueMs = Math.max(phaseDueMs, nowMs) + PHASE_EVERY_MS;
    toldAtMs = nowMs;
    phase = progress.phase;
    onProgress(progress);
  };
}

/** Reports a phase's progress at its beginning and then a few times a second; throws once the signal is aborted. */
export function createReporter(onProgress: (progress: JobProgress) => void, signal: AbortSignal) {
  const report = throttleProgress(onProgress);
  return (phase: string, details: Omit<JobProgress, "phase" | "done" | "total"> = {}) =>
    (done: number, total: number) => {
      assertWanted(signal);
      report({ phase, done, total, ...details });
    };
}
