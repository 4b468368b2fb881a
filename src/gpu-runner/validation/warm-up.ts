import { median } from "../../stats/median.ts";
import { askSystem } from "./ask-system.ts";
import type { LoadOptions } from "./load-options.ts";
import type { SystemUnderTest } from "./system-under-test.ts";
import { untilDeadline } from "./until-deadline.ts";

/** Queries before the first that counts, and the time that they may take: the last of them may end later. */
const QUERIES = 16;
const WARM_UP_MS = 1_000;
const PAUSE_AFTER_ERROR_MS = 10;

/**
 * Asks query after query, none of which is counted. Gives the time of one in milliseconds, the median of those that
 * were answered; null where none was.
 */
export async function warmUp(
  system: SystemUnderTest,
  samples: number,
  options: Omit<LoadOptions, "seed">,
): Promise<number | null> {
  const { clock, signal, onProgress } = options;
  const tookMs: number[] = [];
  const startMs = clock.now();
  for (let query = 0; query < QUERIES && clock.now() - startMs < WARM_UP_MS; query++) {
    onProgress({ phase: "warm up", done: query, total: QUERIES });
    const sentMs = clock.now();
    const isAnswered = askSystem(system, samples).then(
      () => tookMs.push(clock.now() - sentMs),
      // A system that fails does so again where it counts.
      () => clock.waitUntil(clock.now() + PAUSE_AFTER_ERROR_MS, signal),
    );
    await untilDeadline(isAnswered, options);
  }
  return tookMs.length === 0 ? null : median(tookMs);
}
