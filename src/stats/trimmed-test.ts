import { mean } from "./mean.ts";
import { studentTTwoSided } from "./student-t.ts";

/** A sample without its extremes. */
export interface Trimmed {
  /** Values that are left. */
  readonly count: number;
  readonly mean: number;
  /** Squared distances from their mean, of all values, the extremes drawn in to those that are left. */
  readonly squares: number;
}

export interface TrimmedDifference {
  /** Mean after − mean before. */
  readonly difference: number;
  readonly standardError: number;
  readonly degreesOfFreedom: number;
  /** Two-sided; 1 where two constants are equal, and of two values. */
  readonly p: number;
}

/** Taken away at each end, rounded down: none of fewer than ten. */
const SHARE = 0.1;

/** Leaves out the highest and the lowest tenth of a sample. */
export function trimSample(values: Float64Array): Trimmed {
  const sorted = values.toSorted();
  const cut = Math.floor(SHARE * sorted.length);
  const left = sorted.subarray(cut, sorted.length - cut);
  const drawnIn = sorted.map((value) => Math.min(left.at(-1)!, Math.max(left[0]!, value)));
  const middle = mean(drawnIn);
  return {
    count: left.length,
    mean: mean(left),
    squares: drawnIn.reduce((sum, value) => sum + (value - middle) ** 2, 0),
  };
}

/**
 * The t-test of trimmed means with pooled winsorised variance (Yuen and Dixon, Biometrika 60, 1973), which heavy tails
 * neither mislead nor blind as they do Student's. The deviation is taken to be `leastDeviation` at the least.
 */
export function testTrimmed(before: Trimmed, after: Trimmed, leastDeviation: number): TrimmedDifference {
  const degreesOfFreedom = before.count + after.count - 2;
  const deviation = Math.max(leastDeviation, Math.sqrt((before.squares + after.squares) / degreesOfFreedom));
  const standardError = deviation * Math.sqrt(1 / before.count + 1 / after.count);
  const difference = after.mean - before.mean;
  const p =
    difference === 0 || degreesOfFreedom === 0 ? 1 : studentTTwoSided(difference / standardError, degreesOfFreedom);
  return { difference, standardError, degreesOfFreedom, p };
}
