import { type EffectSize, effectSize, mannWhitney } from "./mann-whitney.ts";
import { lehmer } from "../random/seeded.ts";
import { quantileOfSorted } from "../distribution/summary.ts";
import { resampleMedian } from "./resample-medians.ts";
import { type Estimate, FEWEST_VALUES, summariseComparison } from "./summarise-comparison.ts";

export interface CompareOptions {
  /** The better direction. */
  readonly direction: "lower" | "higher";
  /** Relative change below which a difference does not matter. */
  readonly minimumEffect?: number | undefined;
  /** Confidence of the intervals in (0, 1); one minus it is the level of the test. */
  readonly confidence?: number | undefined;
}

export interface Comparison extends EffectSize {
  readonly countA: number;
  readonly countB: number;
  readonly medianA: number;
  readonly medianB: number;
  /** Median of B ÷ median of A; null where a median is zero or could as well have another sign. */
  readonly ratio: Estimate | null;
  /** Median of B − median of A, in the unit of the samples. */
  readonly difference: Estimate;
  /** Mann and Whitney's, two-sided. */
  readonly p: number;
  readonly verdict: "better" | "worse" | "same" | "unclear";
  /** The verdict and what it rests on, in one English sentence. */
  readonly summary: string;
}

const RESAMPLES = 2_000;

/**
 * Compares sample B with sample A; the samples are not paired, of one unit and of any sign. Intervals are
 * percentiles of a bootstrap of either side by itself (Efron and Tibshirani, An Introduction to the Bootstrap,
 * 1993, chapters 8 and 13). B is `better` or `worse` where all of the interval lies on one side of no change,
 * the test agrees, and the change is as large as the minimum effect; it is the `same` where all of the interval
 * lies within the minimum effect; anything else is `unclear`. A pure function: the resamples come from a fixed
 * seed. Throws a RangeError on an empty sample and on values that are not finite.
 */
export function compareSamples(a: ArrayLike<number>, b: ArrayLike<number>, options: CompareOptions): Comparison {
  const { direction, minimumEffect = 0.01, confidence = 0.95 } = options;
  const [sortedA, sortedB] = [Float64Array.from(a).toSorted(), Float64Array.from(b).toSorted()];
  const { u, p } = mannWhitney(sortedA, sortedB);
  const medians = estimateMedians(sortedA, sortedB, confidence);
  const { medianA, medianB, ratio, difference } = medians;
  // Of medians below zero a ratio above 1 is a change downwards.
  const change = ratio ? mapEstimate(ratio, (value) => Math.sign(medianA) * (value - 1)) : difference;
  const smallest = ratio ? minimumEffect : minimumEffect * Math.max(Math.abs(medianA), Math.abs(medianB));
  const certain = p < 1 - confidence && excludesZero(change);
  const verdict = judgeChange(change, { smallest, certain, direction });
  const counts = { countA: a.length, countB: b.length };
  const summary = summariseComparison({
    ...counts,
    change,
    relative: ratio !== null,
    certain,
    verdict,
    p,
    minimumEffect,
    confidence,
  });
  return { ...counts, ...medians, p, ...effectSize(u, a.length, b.length), verdict, summary };
}

/** The verdict on a change whose interval is known: see `compareSamples`. */
export function judgeChange(
  { value, interval }: Estimate,
  to: { smallest: number; certain: boolean; direction: "lower" | "higher" },
): Comparison["verdict"] {
  if (interval === null) return "unclear";
  if (to.certain && Math.abs(value) >= to.smallest) {
    return value > 0 === (to.direction === "higher") ? "better" : "worse";
  }
  return interval.low >= -to.smallest && interval.high <= to.smallest ? "same" : "unclear";
}

function estimateMedians(sortedA: Float64Array, sortedB: Float64Array, confidence: number) {
  const [medianA, medianB] = [quantileOfSorted(sortedA, 0.5), quantileOfSorted(sortedB, 0.5)];
  const resamples = Math.min(sortedA.length, sortedB.length) < FEWEST_VALUES ? 0 : RESAMPLES;
  const draw = lehmer();
  const drawnA = new Float64Array(resamples).map(() => resampleMedian(sortedA, draw));
  const drawnB = new Float64Array(resamples).map(() => resampleMedian(sortedB, draw));
  const estimate = (of: (a: number, b: number) => number): Estimate => ({
    value: of(medianA, medianB),
    interval: intervalOf(
      drawnA.map((drawn, index) => of(drawn, drawnB[index]!)),
      confidence,
    ),
  });
  const sign = Math.sign(medianA);
  const oneSign = [[medianA, medianB], drawnA, drawnB].every((some) => some.every((value) => value * sign > 0));
  return {
    medianA,
    medianB,
    ratio: oneSign ? estimate((one, other) => other / one) : null,
    difference: estimate((one, other) => other - one),
  };
}

function intervalOf(drawn: Float64Array, confidence: number): Estimate["interval"] {
  if (drawn.length === 0) return null;
  const sorted = drawn.toSorted();
  const outside = (1 - confidence) / 2;
  return { low: quantileOfSorted(sorted, outside), high: quantileOfSorted(sorted, 1 - outside) };
}

function mapEstimate({ value, interval }: Estimate, map: (value: number) => number): Estimate {
  if (interval === null) return { value: map(value), interval };
  const ends = [map(interval.low), map(interval.high)];
  return { value: map(value), interval: { low: Math.min(...ends), high: Math.max(...ends) } };
}

function excludesZero({ interval }: Estimate): boolean {
  return interval !== null && (interval.low > 0 || interval.high < 0);
}
