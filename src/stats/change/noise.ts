import { aggregateQuantile, type Aggregate } from "../distribution/distribution.ts";
import { median } from "../distribution/summary.ts";
import { studentTQuantile } from "../distribution/student-t.ts";
import { NOISE_FLOOR } from "../compare/threshold.ts";

/** Noise of one run; median and spread in one unit. */
export interface NoisePoint {
  readonly count: number;
  readonly median: number;
  /** A standard deviation or an estimate of one. */
  readonly spread: number;
}

/** Noise as shares of the level; null where there are too few runs. */
export interface SeriesNoise {
  readonly runs: number;
  /** The median over runs of spread ÷ median: how far single values lie apart. */
  readonly withinRun: number | null;
  /** The relative standard deviation of runs' medians about a level that may step and drift. */
  readonly betweenRun: number | null;
}

/** From so few runs the noise between them is known to a factor of two or three; below, not even that. */
const FEWEST_RUNS = 8;
/** Median absolute deviation → standard deviation, of normal values. */
const MAD_TO_DEVIATION = 1.4826;
/** The share of a normal distribution that lies below one standard deviation. */
const ONE_DEVIATION = 0.8413447460685429;

/** A stored point's part; its spread is half of what lies between the quantiles one deviation below and above. */
export function noisePointOf(aggregate: Aggregate): NoisePoint {
  const at = (p: number) => aggregateQuantile(aggregate, p);
  return { count: aggregate.count, median: at(0.5), spread: (at(ONE_DEVIATION) - at(1 - ONE_DEVIATION)) / 2 };
}

/**
 * Noise of a series, from its points in order of time. Between runs it comes from differences of neighbours, each
 * relative to the two, by their median absolute deviation ÷ √2. A step is one outlier among many differences and a
 * steady drift shifts all alike, so neither counts as noise.
 * Sources: von Neumann, Kent, Bellinson and Hart, Annals of Mathematical Statistics, 1941; Rousseeuw and Croux, JASA,
 * 1993.
 */
export function seriesNoise(points: readonly NoisePoint[]): SeriesNoise {
  const spreads = points
    .filter(({ count, median: middle }) => count > 1 && middle !== 0)
    .map(({ median: middle, spread }) => spread / Math.abs(middle));
  const changes = points.slice(1).map((point, index) => relativeChange(points[index]?.median ?? 0, point.median));
  return {
    runs: points.length,
    withinRun: spreads.length < FEWEST_RUNS ? null : median(spreads),
    betweenRun: points.length < FEWEST_RUNS ? null : (medianAbsoluteDeviation(changes) * MAD_TO_DEVIATION) / Math.SQRT2,
  };
}

/** Relative to the mean magnitude of both, so that it has the same size backwards; 0 between zeros. */
function relativeChange(from: number, to: number): number {
  const level = (Math.abs(from) + Math.abs(to)) / 2;
  return level === 0 ? 0 : (to - from) / level;
}

function medianAbsoluteDeviation(values: readonly number[]): number {
  const middle = median(values);
  return median(values.map((value) => Math.abs(value - middle)));
}

export interface Power {
  /** A series' own, as a share of its level. */
  readonly betweenRun: number;
  /** Two-sided probability of a false alarm. */
  readonly alpha?: number | undefined;
  /** Probability of detecting a real change. */
  readonly power?: number | undefined;
  /** No smaller change is ever called detectable, as a share of the level. */
  readonly noiseFloor?: number | undefined;
}

/**
 * The smallest relative change between two levels that a t-test of `runs` a side would see: σ·√(2/n)·(t of
 * 1 − α/2 + t of the power), by 2n − 2 degrees of freedom (Sokal and Rohlf, Biometry, 1995, §9.8), at least
 * the noise floor. Null below two runs, which have no spread.
 */
export function smallestDetectable(asked: Power & { readonly runs: number }): number | null {
  const { betweenRun, runs, alpha = 0.05, power = 0.8, noiseFloor = NOISE_FLOOR } = asked;
  if (runs < 2) return null;
  const deviate = (p: number) => studentTQuantile(p, 2 * runs - 2);
  return Math.max(noiseFloor, betweenRun * Math.sqrt(2 / runs) * (deviate(1 - alpha / 2) + deviate(power)));
}

/** More runs a side than this are not asked of anyone. */
const MOST_RUNS = 1_000_000;

/**
 * The fewest runs a side with which a relative change is detectable: the inverse of `smallestDetectable`. Null
 * below the noise floor, and where more than a million would be needed.
 */
export function runsNeeded(asked: Power & { readonly change: number }): number | null {
  const detects = (runs: number) =>
    (smallestDetectable({ ...asked, runs }) ?? Number.POSITIVE_INFINITY) <= asked.change;
  if (!detects(MOST_RUNS)) return null;
  // The first is always too few, the second enough.
  let [low, high] = [1, MOST_RUNS];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (detects(middle)) high = middle;
    else low = middle;
  }
  return high;
}
