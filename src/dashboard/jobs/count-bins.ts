/** A bin of a histogram: values from `from` on, up to `to`, which only the last one holds itself. */
export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** Counts values in bins of one width from the least to the largest; one bin where all are the same, none of none. */
export function countBins(values: readonly number[], most: number): Bin[] {
  if (values.length === 0) return [];
  const low = values.reduce((least, value) => Math.min(least, value));
  const high = values.reduce((largest, value) => Math.max(largest, value));
  if (low === high) return [{ from: low, to: high, count: values.length }];
  const counts = Array.from({ length: Math.min(most, values.length) }, () => 0);
  const width = (high - low) / counts.length;
  for (const value of values) {
    const place = Math.min(counts.length - 1, Math.floor((value - low) / width));
    counts[place] = (counts[place] ?? 0) + 1;
  }
  return counts.map((count, place) => ({ from: low + place * width, to: low + (place + 1) * width, count }));
}
