import { readStoredValues } from "./read-stored-values.ts";
import type { Entry } from "../contest.ts";
import { createBatch, type IngestPoint } from "./point-batches.ts";

/** A round sends as many batches as fit into this time, one after the other, and one at least. */
const ROUND_MS = 1_000;

/** Where batches go: each is stored when its promise is fulfilled. */
export interface BatchStore {
  /** The database's file. */
  readonly file: string;
  store(index: number, batch: readonly IngestPoint[]): Promise<void>;
  close(): Promise<void>;
}

/** The first batch is the output, as it stands in the database; a round tells points per second. */
export async function timeBatches(batches: BatchStore, size: number): Promise<Entry> {
  let next = 0;
  const storeNext = async () => {
    const index = next++;
    const batch = createBatch(index, size);
    const startedMs = performance.now();
    await batches.store(index, batch);
    return performance.now() - startedMs;
  };
  await storeNext();
  return {
    opened: { output: Float32Array.from(readStoredValues(batches.file)), adapter: null },
    async measure() {
      let [stored, spentMs] = [0, 0];
      for (; spentMs < ROUND_MS; stored += size) spentMs += await storeNext();
      return { "points stored": (stored * 1e3) / spentMs };
    },
    close: () => batches.close(),
  };
}
