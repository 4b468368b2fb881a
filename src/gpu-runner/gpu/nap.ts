import { setTimeout } from "node:timers/promises";

/** Of the expected time, so much is slept: what is left covers a run that is faster than expected. */
const SHARE = 0.85;
/** Below this, sleeping costs more than polling does. */
const SHORTEST_MS = 4;

/**
 * Sleeps through most of what submitted work is expected to take. Dawn polls with a whole core while a
 * map or the end of the queue is awaited, and a software device needs that core for itself.
 */
export async function napFor(expectedMs: number): Promise<void> {
  const napMs = chooseNapMs(expectedMs);
  if (napMs > 0) await setTimeout(napMs);
}

/** Whole milliseconds, less one that the timer may be late; 0 where a nap is not worth it. */
export function chooseNapMs(expectedMs: number): number {
  const napMs = Math.floor(SHARE * expectedMs) - 1;
  return napMs >= SHORTEST_MS ? napMs : 0;
}
