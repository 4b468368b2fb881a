/**
 * The value of rank `⌊n·p⌋` among values that rise, as MLPerf's load generator picks a percentile; the
 * last one at p = 1, NaN where there is none.
 */
export function nearestRank(sorted: Float64Array, p: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? Number.NaN;
}
