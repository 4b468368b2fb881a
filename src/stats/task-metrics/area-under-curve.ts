import type { CountedMetric } from "./counted-metric.ts";

/**
 * The area under the ROC curve: the share of pairs of a positive and a negative in which the positive has the higher
 * score, ties by half (Mann and Whitney, 1947; Hanley and McNeil, Radiology, 1982). Each of what is scored counts as
 * often as `weightOf` says.
 */
export function countAreaUnderCurve(
  scores: Float64Array,
  isPositive: (index: number) => boolean,
  weightOf: (index: number, counts: ArrayLike<number>) => number,
): CountedMetric {
  const order = Uint32Array.from(scores.keys()).toSorted((a, b) => scores[a]! - scores[b]!);
  const sorted = Float64Array.from(order, (index) => scores[index]!);
  const positive = Uint8Array.from(order, (index) => (isPositive(index) ? 1 : 0));
  return {
    cost: scores.length,
    measure: (counts) => {
      let [below, tied, above, pairs] = [0, 0, 0, 0];
      for (let at = 0; at < sorted.length;) {
        const score = sorted[at];
        let [positives, negatives] = [0, 0];
        for (; at < sorted.length && sorted[at] === score; at++) {
          const weight = weightOf(order[at]!, counts);
          if (positive[at] === 1) positives += weight;
          else negatives += weight;
        }
        pairs += positives * below;
        tied += positives * negatives;
        below += negatives;
        above += positives;
      }
      return (pairs + tied / 2) / (above * below);
    },
  };
}
