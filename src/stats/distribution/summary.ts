/** The sum of the values, first to last, by their number; NaN of none. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += values[at]!;
  return sum / values.length;
}

/** The middle of the values; the mean of the two middle ones of an even number. Throws on an empty list. */
export function median(values: ArrayLike<number>): number {
  const sorted = Float64Array.from(values).toSorted();
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (upper === undefined || lower === undefined) throw new RangeError("there is no median of nothing");
  return (lower + upper) / 2;
}

/**
 * The value of rank `⌊n·p⌋` among values that rise, as MLPerf's load generator picks a percentile; the
 * last one at p = 1, NaN where there is none.
 */
export function nearestRank(sorted: Float64Array, p: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? Number.NaN;
}

/**
 * The quantile `p` in [0, 1] of the values, between two ranks by a straight line: type 7 of Hyndman and Fan
 * (The American Statistician, 1996), R's and NumPy's default. Throws on an empty list. Percentiles of
 * latencies are `nearestRank`'s, which interpolates nothing.
 */
export function quantile(values: ArrayLike<number>, p: number): number {
  return quantileOfSorted(Float64Array.from(values).toSorted(), p);
}

/** The same of values that rise already. */
export function quantileOfSorted(sorted: ArrayLike<number>, p: number): number {
  const rank = p * (sorted.length - 1);
  const below = sorted[Math.floor(rank)];
  const above = sorted[Math.ceil(rank)];
  if (below === undefined || above === undefined) throw new RangeError("there is no quantile of nothing");
  return below === above ? below : below + (above - below) * (rank - Math.floor(rank));
}
