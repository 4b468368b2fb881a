import { median } from "../distribution/summary.ts";
import { normalTail } from "../distribution/normal.ts";

/** Quantile of the standard normal distribution at 0.975. */
const NORMAL_975 = 1.959963984540054;

export interface Trend {
  /** Per unit of x: the median of the slopes of all pairs. */
  readonly slope: number;
  /** Between these it lies at 95 %. */
  readonly low: number;
  readonly high: number;
  /** One-sided, that it rises by chance. */
  readonly p: number;
}

/**
 * The slope of Theil and Sen (Sen, JASA 63, 1968), which a third of outliers does not move, and the test of Mann and
 * Kendall for a rise, by the normal distribution with the corrections for ties and continuity (Kendall, Rank
 * Correlation Methods). The interval is between the slopes whose ranks that variance gives (Sen, 1968, section 3). Takes points of rising x; work grows with the square of their number. Null below eight, where
 * the normal distribution is not close enough.
 */
export function robustTrend(x: readonly number[], y: readonly number[]): Trend | null {
  const count = x.length;
  if (count < 8) return null;
  const slopes: number[] = [];
  let score = 0;
  for (let j = 1; j < count; j++) {
    for (let i = 0; i < j; i++) {
      const rise = y[j]! - y[i]!;
      score += Math.sign(rise);
      if (x[j]! > x[i]!) slopes.push(rise / (x[j]! - x[i]!));
    }
  }
  const ties = [...Map.groupBy(y, (value) => value).values()].map(({ length }) => length);
  const weigh = (n: number) => n * (n - 1) * (2 * n + 5);
  const variance = (weigh(count) - ties.reduce((sum, n) => sum + weigh(n), 0)) / 18;
  if (variance <= 0 || slopes.length === 0) return { slope: 0, low: 0, high: 0, p: 1 };
  const z = (score - Math.sign(score)) / Math.sqrt(variance);
  slopes.sort((a, b) => a - b);
  const reach = NORMAL_975 * Math.sqrt(variance);
  const rankOf = (from: number) => Math.min(slopes.length - 1, Math.max(0, Math.round(from)));
  const low = slopes[rankOf((slopes.length - reach) / 2 - 1)]!;
  const high = slopes[rankOf((slopes.length + reach) / 2)]!;
  return { slope: median(slopes), low, high, p: z >= 0 ? normalTail(z) : 1 - normalTail(-z) };
}
