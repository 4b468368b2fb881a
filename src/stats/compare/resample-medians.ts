import { median } from "../distribution/summary.ts";
import { lehmer } from "../random/seeded.ts";

/** Ratio of two medians, with a 95 % interval. */
export interface RatioEstimate {
  readonly ratio: number;
  /** Null where there are too few pairs for an interval. */
  readonly low: number | null;
  readonly high: number | null;
}

const FEWEST_PAIRS = 5;
const RESAMPLES = 1_000;

/**
 * Ratio of the medians of paired positive samples (one pair a round, so that drift hits both), with
 * the percentile interval of a bootstrap over the pairs (Efron and Tibshirani, An Introduction to the
 * Bootstrap, 1993, chapter 13). A pure function: the resamples are drawn from a fixed seed. Throws on
 * empty or unequal lists.
 */
export function ratioOfMedians(numerator: ArrayLike<number>, denominator: ArrayLike<number>): RatioEstimate {
  const pairs = numerator.length;
  if (pairs === 0 || pairs !== denominator.length) throw new RangeError("the samples are not paired");
  const ratio = median(numerator) / median(denominator);
  if (pairs < FEWEST_PAIRS) return { ratio, low: null, high: null };
  const draw = lehmer();
  const above = new Float64Array(pairs);
  const below = new Float64Array(pairs);
  const ratios = new Float64Array(RESAMPLES).map(() => {
    for (let i = 0; i < pairs; i++) {
      const pair = Math.floor(draw() * pairs);
      above[i] = numerator[pair] ?? 0;
      below[i] = denominator[pair] ?? 0;
    }
    return median(above) / median(below);
  });
  ratios.sort();
  const at = (p: number) => ratios[Math.floor(p * (RESAMPLES - 1))] ?? ratio;
  return { ratio, low: at(0.025), high: at(0.975) };
}

/**
 * Whether the numerator's median is certainly larger, by the ratio of both. Too few pairs for an interval convince only
 * if there are two and all agree.
 */
export function isSurelyLarger(
  { low }: RatioEstimate,
  numerator: ArrayLike<number>,
  denominator: ArrayLike<number>,
): boolean {
  if (low !== null) return low > 1;
  return numerator.length > 1 && Array.from(numerator).every((value, pair) => value > (denominator[pair] ?? Infinity));
}

/**
 * A median of `sorted.length` draws with replacement from rising values, without making the draws. A draw is
 * the value at ⌊n·U⌋ of a uniform U, so the median's place follows from that of the uniforms: the middle one of
 * 2k − 1 is Beta(k, k) (David and Nagaraja, Order Statistics, 2003, §2.1), drawn as ½ + T/(2√(2k + T²)) by
 * Student's T of 2k degrees of freedom (Devroye, Non-Uniform Random Variate Generation, 1986, ch. IX), T by
 * Bailey's polar method (Mathematics of Computation, 1994). Of 2k uniforms the last one lies on one side of
 * that middle, and the nearest of the then k on this side is the other of the two in the middle.
 */
export function resampleMedian(sorted: ArrayLike<number>, draw: () => number): number {
  const n = sorted.length;
  const k = Math.ceil(n / 2);
  const middle = drawBeta(k, draw);
  const at = (place: number) => sorted[Math.min(n - 1, Math.floor(place * n))] ?? Number.NaN;
  if (n % 2 === 1) return at(middle);
  const nearest = draw() ** (1 / k);
  const other = draw() < middle ? middle * nearest : 1 - (1 - middle) * nearest;
  return (at(middle) + at(other)) / 2;
}

/** Beta(k, k). */
function drawBeta(k: number, draw: () => number): number {
  for (;;) {
    const u = 2 * draw() - 1;
    const v = 2 * draw() - 1;
    const w = u * u + v * v;
    if (w > 1 || w === 0) continue;
    // T²/2k, hence T/√(2k + T²) = ±√(that/(1 + that)).
    const square = (u * u * (w ** (-1 / k) - 1)) / w;
    return 0.5 + (Math.sign(u) / 2) * Math.sqrt(square / (1 + square));
  }
}
