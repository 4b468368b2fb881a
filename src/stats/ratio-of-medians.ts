import { lehmer } from "./lehmer.ts";
import { median } from "./median.ts";

/** How many times larger one median is than another; the interval holds the true ratio in 95 % of cases. */
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
 * Whether the numerator's median is surely larger, by the ratio of both. Pairs that are too few for an interval convince
 * only if there are two and all agree.
 */
export function isSurelyLarger(
  { low }: RatioEstimate,
  numerator: ArrayLike<number>,
  denominator: ArrayLike<number>,
): boolean {
  if (low !== null) return low > 1;
  return numerator.length > 1 && Array.from(numerator).every((value, pair) => value > (denominator[pair] ?? Infinity));
}
