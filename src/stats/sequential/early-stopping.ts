import { incompleteBeta } from "../distribution/student-t.ts";

/**
 * MLPerf Inference's early stopping: number of queries that show that a percentile holds.
 * Sources: mlcommons/inference_policies, inference_rules.adoc, "Early stopping"; mlcommons/inference,
 * loadgen/early_stopping.cc and results.cc.
 */

/** MLPerf's confidence, and 1 less it as its load generator computes it. Its tolerance is 0. */
export const STOPPING_CONFIDENCE = 0.99;
const DOUBT = 1 - STOPPING_CONFIDENCE;

/**
 * The smallest number h of queries under latency that, with t over it, shows that the percentile p of (0, 1) holds: the
 * least h for which t or fewer of h + t were over by chance with I_p(h, t + 1) < 1 − 0.99.
 */
export function leastUnderLatency(p: number, overLatency: number): number {
  const tells = (under: number) => incompleteBeta(p, under, overLatency + 1) < DOUBT;
  // So many would be over on average: there the chance is about a half.
  let low = Math.max(0, Math.floor((overLatency * p) / (1 - p)));
  let step = Math.ceil(Math.log(DOUBT) / Math.log(p));
  while (!tells(low + step)) {
    low += step;
    step *= 2;
  }
  let high = low + step;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (tells(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** The same, with those over latency: n = h + t. */
export function leastQueries(p: number, overLatency: number): number {
  return leastUnderLatency(p, overLatency) + overLatency;
}

/** The most queries over latency that so many in all allow; −1 where they are too few for any. */
export function mostOverLatency(p: number, queries: number): number {
  let low = -1;
  let high = Math.ceil(queries * (1 - p)) + 1;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (leastQueries(p, middle) <= queries) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * The percentile p as MLPerf reports it of single and multi stream: `sorted[q − t]` for the largest t ≥ 1 whose need
 * the q queries meet, so that the t − 1 highest are discarded. Null where they do not meet that of t = 1.
 */
export function estimatePercentile(sorted: ArrayLike<number>, p: number): number | null {
  const overLatency = mostOverLatency(p, sorted.length);
  return overLatency < 1 ? null : (sorted[sorted.length - overLatency] ?? null);
}

/**
 * Queries needed to decide whether the percentile p holds, if a `shareOver` of them stays over latency: it holds where
 * the share is less than 1 − p. Infinity where `most` do not suffice.
 */
export function queriesToTell(p: number, shareOver: number, most: number): number {
  const [held, share] = shareOver > 1 - p ? [1 - p, 1 - shareOver] : [p, shareOver];
  const tells = (overLatency: number) => overLatency >= share * leastQueries(held, overLatency);
  let low = -1;
  let high = mostOverLatency(held, most);
  if (high < 0 || !tells(high)) return Number.POSITIVE_INFINITY;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (tells(middle)) high = middle;
    else low = middle;
  }
  return leastQueries(held, high);
}
