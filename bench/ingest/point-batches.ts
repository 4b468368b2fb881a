import { drawWord } from "../../kernels/seeded-words.ts";

/** Series among which a batch's points rotate. */
export const SERIES = 100;
const FROM_MS = Date.UTC(2026, 0, 1);
const SECOND_MS = 1_000;

/** A point of one sample; no two points of all batches have the same value. */
export interface IngestPoint {
  readonly series: number;
  readonly atMs: number;
  readonly value: number;
}

/** Points of a batch, determined by its index: in each series the batches follow each other by time. */
export function createBatch(index: number, size: number): IngestPoint[] {
  const draw = drawWord(index, 0);
  return Array.from({ length: size }, (_, i) => {
    const place = index * size + i;
    // A whole number unique to the point, and a random fraction.
    const value = place + 1 + draw(i) / 2 ** 33;
    return { series: i % SERIES, atMs: FROM_MS + place * SECOND_MS, value };
  });
}
