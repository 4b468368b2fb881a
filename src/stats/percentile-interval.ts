import { binomialCdf } from "./binomial.ts";

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
