import type { Entry, Opened } from "./contest.ts";
import { median } from "../src/stats/distribution/summary.ts";

/** Shortest duration of a round, which has at least one batch. */
const ROUND_MS = 200;

/**
 * Entry whose metric `time` is the milliseconds of one of `count` pieces of work: `run(count)` does them back to back
 * and returns the last output in host memory. The median of a round's batches counts.
 */
export async function createBatchEntry(
  run: (count: number) => Promise<Float32Array>,
  count: number,
  about: Omit<Opened, "output">,
): Promise<Entry> {
  await run(count);
  return {
    opened: { ...about, output: await run(count) },
    measure: async () => ({ time: (await timeBatches(() => run(count))) / count }),
    close: async () => {},
  };
}

async function timeBatches(runBatch: () => Promise<unknown>): Promise<number> {
  const durationsMs: number[] = [];
  const startedAt = performance.now();
  for (let now = startedAt; now - startedAt < ROUND_MS;) {
    await runBatch();
    const endedAt = performance.now();
    durationsMs.push(endedAt - now);
    now = endedAt;
  }
  return median(durationsMs);
}
