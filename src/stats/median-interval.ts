import { type Aggregate, aggregateQuantile } from "./distribution.ts";

/** The normal deviate of 95 %. */
const DEVIATE = 1.96;

/**
 * Where a 95 % confidence interval of the median of `count` samples ends, as quantiles: it holds whatever the
 * distribution is, from the values of rank n/2 ∓ 1.96·√n/2 (Campbell and Gardner, BMJ 296, 1988). Null below six
 * samples, where no two of them are that far apart.
 */
export function medianIntervalEnds(count: number): [low: number, high: number] | null {
  const reach = (DEVIATE * Math.sqrt(count)) / 2;
  // Ranks from 1, as in the paper; their quantiles are taken from the middle of a rank.
  const lowRank = Math.round(count / 2 - reach);
  const highRank = Math.round(1 + count / 2 + reach);
  return lowRank < 1 ? null : [(lowRank - 0.5) / count, (highRank - 0.5) / count];
}

/** That interval of an aggregate, read from its sketch. */
export function medianInterval(aggregate: Aggregate): { low: number; high: number } | null {
  const ends = medianIntervalEnds(aggregate.count);
  if (ends === null) return null;
  return { low: aggregateQuantile(aggregate, ends[0]), high: aggregateQuantile(aggregate, ends[1]) };
}
