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
  const napMs = Math.floor(SHARE * expectedMs) - 1;
  if (napMs >= SHORTEST_MS) await setTimeout(napMs);
}
