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
