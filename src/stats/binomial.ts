import { incompleteBeta } from "./incomplete-beta.ts";

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
