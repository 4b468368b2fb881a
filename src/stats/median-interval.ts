import { type Aggregate, aggregateQuantile } from "./distribution.ts";

/** The normal deviate of 95 %. */
const DEVIATE = 1.96;

/**
 * A 95 % confidence interval of the median, which holds whatever the distribution is: the values of rank
 * n/2 ∓ 1.96·√n/2 (Campbell and Gardner, BMJ 296, 1988), read from the sketch. Null below six samples,
 * where no two of them are that far apart.
 */
export function medianInterval(aggregate: Aggregate): { low: number; high: number } | null {
  const { count } = aggregate;
  const reach = (DEVIATE * Math.sqrt(count)) / 2;
  // Ranks from 1, as in the paper; their quantiles are taken from the middle of a rank.
  const lowRank = Math.round(count / 2 - reach);
  const highRank = Math.round(1 + count / 2 + reach);
  if (lowRank < 1) return null;
  return {
    low: aggregateQuantile(aggregate, (lowRank - 0.5) / count),
    high: aggregateQuantile(aggregate, (highRank - 0.5) / count),
  };
}
