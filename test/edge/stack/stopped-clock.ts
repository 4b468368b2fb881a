import { vi } from "vitest";

/** After so long without a request, none waits for the thread (`ThreadShares`); on a stopped clock, each may. */
const CALM_MS = 1_100;

interface StoppedClock {
  /** Moves the clock on. */
  readonly pass: (ms: number) => void;
  /** Lets it go again; so does `vi.restoreAllMocks`. */
  readonly start: () => void;
}

/** Stops the clock of the edge and its objects. Polls move a clock of vitest's fake timers on, and not this one. */
export function stopClock(): StoppedClock {
  let nowMs = Date.now();
  const clock = vi.spyOn(Date, "now").mockImplementation(() => nowMs);
  return { pass: (ms) => void (nowMs += ms), start: () => clock.mockRestore() };
}

/** The same for many requests. */
export async function stopCalmClock(): Promise<StoppedClock> {
  await new Promise((resolve) => setTimeout(resolve, CALM_MS));
  return stopClock();
}

/** Lets timers of this length ring at once. Returns how many were set since. */
export function skipTimers(skippedMs: number): () => number {
  const { setTimeout } = globalThis;
  const skipping = (run: (...values: unknown[]) => void, ms?: number, ...values: unknown[]) =>
    setTimeout(run, ms === skippedMs ? 0 : ms, ...values);
  const timers = vi.spyOn(globalThis, "setTimeout").mockImplementation(skipping as typeof setTimeout);
  return () => timers.mock.calls.filter(([, ms]) => ms === skippedMs).length;
}
