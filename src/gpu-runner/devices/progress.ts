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
/** The edge closes a connection that has too much progress: phases may follow each other quickly. */
const PHASE_EVERY_MS = 20;

/** Passes on the first progress of each phase that lasts, and then a few per second. */
export function throttleProgress(onProgress: (progress: JobProgress) => void): (progress: JobProgress) => void {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  let phase = "";
  return (progress) => {
    const everyMs = progress.phase === phase ? PROGRESS_EVERY_MS : PHASE_EVERY_MS;
    if (performance.now() - toldAtMs < everyMs) return;
    toldAtMs = performance.now();
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
