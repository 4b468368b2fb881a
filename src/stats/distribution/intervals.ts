import { type Aggregate, aggregateQuantile } from "./distribution.ts";
import { normalQuantile } from "./normal.ts";
import { incompleteBeta, studentTQuantile } from "./student-t.ts";
import { quantileOfSorted } from "./summary.ts";

/**
 * The chance that at most `count` of `trials` come about, each with the chance p of [0, 1]: I_{1−p}(n − k, k + 1)
 * (DLMF 8.17.5).
 */
export function binomialCdf(count: number, trials: number, p: number): number {
  if (count < 0) return 0;
  if (count >= trials) return 1;
  return incompleteBeta(1 - p, trials - count, count + 1);
}

/**
 * The exact interval of a chance that was met `count` times in `trials` (Clopper and Pearson, Biometrika, 1934): the
 * chance lies below `low`, and above `high`, with 1 − `confidence` each at most. Throws a RangeError without trials.
 */
export function binomialInterval(
  count: number,
  trials: number,
  confidence: number,
): { readonly low: number; readonly high: number } {
  if (!(trials > 0)) throw new RangeError("there is no share of nothing");
  const doubt = 1 - confidence;
  return {
    low: count === 0 ? 0 : 1 - highest(trials - count, trials, doubt),
    high: highest(count, trials, doubt),
  };
}

/** The largest chance under which at most `count` are met with no less than `doubt`, by bisection. */
function highest(count: number, trials: number, doubt: number): number {
  if (count >= trials) return 1;
  let low = count / trials;
  let high = 1;
  while (true) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return high;
    if (binomialCdf(count, trials, middle) > doubt) low = middle;
    else high = middle;
  }
}

/** A statistic of a sample, with the bounds between which 95 % of its resamples lie. */
export interface BootstrapEstimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Settings of a bootstrap. */
export interface BootstrapPlan {
  /** A word of 32 bits. */
  readonly seed: number;
  /** The most; fewer where `work` would not do. */
  readonly resamples: number;
  /** Steps of arithmetic that all resamples together may take. */
  readonly work: number;
}

/** The fewest resamples, whatever they cost: bounds of 95 % would rest on too few beyond them. */
const FEWEST = 400;

/** As many resamples as a plan has steps for. */
export function countResamples({ resamples, work }: BootstrapPlan, costOfOne: number): number {
  return Math.min(resamples, Math.max(FEWEST, Math.floor(work / costOfOne)));
}

/**
 * The percentile interval of 95 % (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13), between
 * order statistics by linear interpolation. Sorts `resampled` in place.
 */
export function percentileBounds(resampled: Float64Array): { readonly low: number; readonly high: number } {
  resampled.sort();
  return { low: quantileOfSorted(resampled, 0.025), high: quantileOfSorted(resampled, 0.975) };
}

/** A mean with the interval that would hold it in 95 of 100 samples. */
export interface MeanInterval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The mean of a sample of at least one value, with Student's t interval of 95 % ("The probable error of a mean",
 * Biometrika 6, 1908). One value alone has itself at both ends: nothing is known of its spread.
 */
export function meanInterval(values: ArrayLike<number>): MeanInterval {
  const n = values.length;
  let sum = 0;
  for (let index = 0; index < n; index++) sum += values[index]!;
  const value = sum / n;
  if (n < 2) return { value, low: value, high: value };
  let squares = 0;
  for (let index = 0; index < n; index++) squares += (values[index]! - value) ** 2;
  const reach = studentTQuantile(0.975, n - 1) * Math.sqrt(squares / (n - 1) / n);
  return { value, low: value - reach, high: value + reach };
}

/** The normal deviate of 95 %. */
const DEVIATE = 1.96;

/**
 * Ends of a 95 % confidence interval of the median of `count` samples, as quantiles. It holds for any distribution,
 * from the values of rank n/2 ∓ 1.96·√n/2. Null below six samples, where no two of them are that far apart.
 * Source: Campbell and Gardner, BMJ 296, 1988.
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

/** Places in a sorted sample; null where it is too small for a bound. */
export interface PercentileInterval {
  readonly low: number | null;
  readonly high: number | null;
}

/**
 * Between which two of `count` sorted samples, by their places from 0, the percentile p of (0, 1) of what they were
 * drawn from lies, whatever its distribution (Hahn and Meeker, Statistical Intervals, 1991, 5.2; David and Nagaraja,
 * Order Statistics, 2003, 7.1): it lies below the lower one, and above the higher one, with a chance of at most
 * 1 − `confidence` each. The number of samples below the percentile is binomial of `count` and p.
 */
export function percentileInterval(p: number, count: number, confidence: number): PercentileInterval {
  const doubt = 1 - confidence;
  // The sample at a place is above the percentile where at most so many are below it, and below where more are.
  const low = lastWhere(count, (place) => binomialCdf(place, count, p) <= doubt);
  const high = lastWhere(count, (back) => binomialCdf(back, count, 1 - p) < doubt);
  return { low, high: high === null ? null : count - 1 - high };
}

/** The last of the places from 0 up to `count` for which it is true; it is for all before one for which it is. */
function lastWhere(count: number, isTrue: (place: number) => boolean): number | null {
  let low = -1;
  let high = count;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isTrue(middle)) low = middle;
    else high = middle;
  }
  return low < 0 ? null : low;
}

/**
 * The interval of 95 % round a share of `count` in `trials` (Wilson, "Probable inference, the law of succession, and
 * statistical inference", JASA 22, 1927). It has a width where all or none were met, and stays within 0 and 1. Throws a
 * RangeError without trials.
 */
export function wilsonInterval(count: number, trials: number): { readonly low: number; readonly high: number } {
  if (!(trials > 0)) throw new RangeError("there is no share of nothing");
  const z = normalQuantile(0.975);
  const share = count / trials;
  const centre = (share + z ** 2 / (2 * trials)) / (1 + z ** 2 / trials);
  const reach = (z / (1 + z ** 2 / trials)) * Math.sqrt((share * (1 - share)) / trials + z ** 2 / (4 * trials ** 2));
  return { low: count === 0 ? 0 : centre - reach, high: count === trials ? 1 : centre + reach };
}
