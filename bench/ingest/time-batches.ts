import { readStoredValues } from "./read-stored-values.ts";
import type { Entry } from "../contest.ts";
import { createBatch, type IngestPoint } from "./point-batches.ts";

/** A round sends batches one after the other within this time, at least one. */
const ROUND_MS = 1_000;

/** Receiver of batches: each is stored when its promise is fulfilled. */
export interface BatchStore {
  /** The database's file. */
  readonly file: string;
  store(index: number, batch: readonly IngestPoint[]): Promise<void>;
  close(): Promise<void>;
}

/** The output is the first batch as stored in the database; a round's value is points per second. */
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
