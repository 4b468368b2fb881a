import type { LoadOptions } from "./load-options.ts";

/** Waits for work, but not beyond the deadline. Throws the signal's reason once it is aborted. */
export async function untilDeadline(
  work: Promise<unknown>,
  { clock, deadlineMs, signal }: Pick<LoadOptions, "clock" | "deadlineMs" | "signal">,
): Promise<void> {
  const done = new AbortController();
  try {
    await Promise.race([work, clock.waitUntil(deadlineMs, AbortSignal.any([signal, done.signal]))]);
  } finally {
    done.abort();
  }
  signal.throwIfAborted();
}
