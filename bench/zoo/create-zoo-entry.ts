import { createBatchEntry } from "../batch-entry.ts";
import type { Entry } from "../contest.ts";

const MIB = 2 ** 20;
/** Runs of a sample, one after the other. */
const RUNS = 4;

/**
 * An entry with the metrics `time` (ms of a row there and back), `startup` (ms from the file's bytes to the first
 * answer) and `memory` (MiB of the process's growth from before the one to after a first round of the other). `open`
 * prepares the network; shared parts such as a device exist before.
 */
export async function createZooEntry(
  open: () => Promise<() => Promise<Float32Array>>,
  adapter: string | null,
): Promise<Entry> {
  const bytesBefore = process.memoryUsage.rss();
  const startedAt = performance.now();
  const ask = await open();
  await ask();
  const startup = performance.now() - startedAt;
  const run = async (count: number): Promise<Float32Array> => {
    for (let i = 1; i < count; i++) await ask();
    return ask();
  };
  const entry = await createBatchEntry(run, RUNS, { adapter });
  await entry.measure();
  const memory = Math.max(0, process.memoryUsage.rss() - bytesBefore) / MIB;
  return { ...entry, measure: async () => ({ ...(await entry.measure()), startup, memory }) };
}
