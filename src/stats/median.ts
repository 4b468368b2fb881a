/** The middle of the values; the mean of the two middle ones of an even number. Throws on an empty list. */
export function median(values: ArrayLike<number>): number {
  const sorted = Float64Array.from(values).toSorted();
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (upper === undefined || lower === undefined) throw new RangeError("there is no median of nothing");
  return (lower + upper) / 2;
}
