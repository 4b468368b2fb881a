import type { JobProgress } from "../../protocol/job.ts";

/** A monotonic clock that can be waited on. */
export interface LoadClock {
  /** Milliseconds. */
  now(): number;
  /**
   * Resolves once the clock has reached so many milliseconds, or soon after the signal is aborted; never rejects. It
   * lets other work be done first even where that moment is past.
   */
  waitUntil(atMs: number, signal: AbortSignal): Promise<void>;
}

/** What every load is driven with. */
export interface LoadOptions {
  readonly clock: LoadClock;
  /** Of arrivals. */
  readonly seed: number;
  /** Ends the load: what was running is let go, and the signal's reason is thrown. */
  readonly signal: AbortSignal;
  /** On the clock: no query begins after it, and what is not answered by then counts as `budget-exceeded`. */
  readonly deadlineMs: number;
  readonly onProgress: (progress: JobProgress) => void;
}
