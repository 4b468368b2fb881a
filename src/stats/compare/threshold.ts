import { normalQuantile } from "../distribution/normal.ts";
import { quantile, quantileOfSorted } from "../distribution/summary.ts";
import { studentTQuantile } from "../distribution/student-t.ts";

/** Limits whose meaning differs by test; a side without one is not watched. */
interface Limits {
  readonly lower?: number | undefined;
  readonly upper?: number | undefined;
}

/**
 * The seven threshold tests that Bencher offers. `lower` and `upper` are
 * - `static`: the limits themselves, in the series' unit;
 * - `percentage`: a share of the mean, above 0;
 * - `z-score`, `t-test`, `log-normal`: a cumulative probability in (0.5, 1), for the lower side too;
 * - `iqr`, `delta-iqr`: a multiple of the interquartile range, above 0.
 * `minSample` is the least number of points in the history, default 5.
 */
export type Threshold =
  | ({ readonly test: "static" } & Limits)
  | ({
      readonly test: "percentage" | "z-score" | "t-test" | "log-normal" | "iqr" | "delta-iqr";
      readonly minSample?: number | undefined;
    } & Limits);

export interface ThresholdOptions {
  /** The better direction. */
  readonly direction: "lower" | "higher";
  /** Share of the baseline that counts as noise however quiet the history was. */
  readonly noiseFloor?: number | undefined;
}

export interface ThresholdJudgement {
  /** `unusable-history`: the test has no answer for such values, such as a logarithm of zero. */
  readonly verdict: "pass" | "regression" | "improvement" | "insufficient-history" | "unusable-history";
  /** Null where there is none: of a static test, and of too little or unusable history. */
  readonly baseline: number | null;
  readonly lowerLimit: number | null;
  readonly upperLimit: number | null;
  /** Whether the noise floor moved a limit outwards. */
  readonly noiseFloorUsed: boolean;
}

/** Share of a baseline that counts as noise where nothing else is said. */
export const NOISE_FLOOR = 0.01;
const MIN_SAMPLE = 5;

/**
 * Judges a value by the history before it, oldest first, whose window the caller picks. A limit that is reached
 * is kept, one that is passed is a regression on the worse side and an improvement on the better. Throws a
 * RangeError for a value that is not finite, and for a probability outside of (0, 1).
 */
export function judgeThreshold(
  threshold: Threshold,
  history: ArrayLike<number>,
  value: number,
  options: ThresholdOptions,
): ThresholdJudgement {
  if (!Number.isFinite(value)) throw new RangeError(`a threshold judges finite values, not ${value}`);
  if (threshold.test === "static") {
    const [lowerLimit, upperLimit] = [threshold.lower ?? null, threshold.upper ?? null];
    const verdict = verdictOf(value, lowerLimit, upperLimit, options.direction);
    return { verdict, baseline: null, lowerLimit, upperLimit, noiseFloorUsed: false };
  }
  // Two are the fewest that have a spread.
  if (history.length < Math.max(2, threshold.minSample ?? MIN_SAMPLE)) return withoutLimits("insufficient-history");
  const { baseline, reach } = modelOf(threshold.test, Float64Array.from(history));
  const floor = threshold.test === "percentage" ? 0 : (options.noiseFloor ?? NOISE_FLOOR) * Math.abs(baseline);
  const limit = (side: 1 | -1, boundary: number | undefined) =>
    boundary === undefined ? null : baseline + side * Math.max(floor, reach(boundary));
  const [lowerLimit, upperLimit] = [limit(-1, threshold.lower), limit(1, threshold.upper)];
  if (![baseline, lowerLimit ?? 0, upperLimit ?? 0].every(Number.isFinite)) return withoutLimits("unusable-history");
  return {
    verdict: verdictOf(value, lowerLimit, upperLimit, options.direction),
    baseline,
    lowerLimit,
    upperLimit,
    noiseFloorUsed: [threshold.lower, threshold.upper].some((side) => side !== undefined && reach(side) < floor),
  };
}

function verdictOf(value: number, lowerLimit: number | null, upperLimit: number | null, better: "lower" | "higher") {
  if (upperLimit !== null && value > upperLimit) return better === "lower" ? "regression" : "improvement";
  if (lowerLimit !== null && value < lowerLimit) return better === "lower" ? "improvement" : "regression";
  return "pass";
}

function withoutLimits(verdict: "insufficient-history" | "unusable-history"): ThresholdJudgement {
  return { verdict, baseline: null, lowerLimit: null, upperLimit: null, noiseFloorUsed: false };
}

/**
 * A test's model of a history: limits lie at the baseline ± the reach of their boundary. Not finite where there is
 * none.
 */
interface Model {
  readonly baseline: number;
  readonly reach: (boundary: number) => number;
}

/** The formulas of Bencher (bencher.dev, explanation of thresholds), each with its upper limit mirrored to the lower side. */
function modelOf(test: Exclude<Threshold["test"], "static">, history: Float64Array): Model {
  const linear = (baseline: number, spread: number): Model => ({ baseline, reach: (factor) => spread * factor });
  switch (test) {
    case "percentage": {
      const { mean } = momentsOf(history);
      return linear(mean, Math.abs(mean));
    }
    case "z-score": {
      const { mean, deviation } = momentsOf(history);
      return { baseline: mean, reach: (p) => deviation * normalQuantile(p) };
    }
    case "t-test": {
      const { mean, deviation } = momentsOf(history);
      // Of the next value, not of the mean.
      const scale = deviation * Math.sqrt(1 + 1 / history.length);
      return { baseline: mean, reach: (p) => scale * studentTQuantile(p, history.length - 1) };
    }
    case "log-normal": {
      const { mean, deviation } = momentsOf(history.map(Math.log));
      const baseline = Math.exp(mean);
      return { baseline, reach: (p) => baseline * Math.expm1(deviation * normalQuantile(p)) };
    }
    case "iqr":
      return linear(quantile(history, 0.5), interquartileRange(history));
    case "delta-iqr": {
      const middle = quantile(history, 0.5);
      const changes = history.subarray(1).map((next, index) => Math.abs((next - history[index]!) / history[index]!));
      return linear(middle, Math.abs(middle) * interquartileRange(changes));
    }
  }
}

/** Mean, and standard deviation by n − 1. */
function momentsOf(values: Float64Array): { mean: number; deviation: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, deviation: Math.sqrt(squares / (values.length - 1)) };
}

/** NaN where a value is not finite, even one that no quartile touches. */
function interquartileRange(values: Float64Array): number {
  if (!values.every(Number.isFinite)) return Number.NaN;
  const sorted = values.toSorted();
  return quantileOfSorted(sorted, 0.75) - quantileOfSorted(sorted, 0.25);
}
