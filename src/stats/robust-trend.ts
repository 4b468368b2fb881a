import { median } from "./median.ts";
import { normalTail } from "./normal.ts";

export interface Trend {
  /** Per unit of x: the median of the slopes of all pairs. */
  readonly slope: number;
  /** One-sided, that it rises by chance. */
  readonly p: number;
}

/**
 * The slope of Theil and Sen (Sen, JASA 63, 1968), which a third of outliers does not move, and the test of Mann and
 * Kendall for a rise, by the normal distribution with the corrections for ties and continuity (Kendall, Rank
 * Correlation Methods). Takes points of rising x; work grows with the square of their number. Null below eight, where
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
  if (variance <= 0 || slopes.length === 0) return { slope: 0, p: 1 };
  const z = (score - Math.sign(score)) / Math.sqrt(variance);
  return { slope: median(slopes), p: z >= 0 ? normalTail(z) : 1 - normalTail(-z) };
}
