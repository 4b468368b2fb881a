import { type CountedMetric, rowOf, type TaskTensor } from "./task-tensor.ts";

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

/** Samples, since each is held against every other. */
export const MAX_VERIFIED_SAMPLES = 2_048;

/**
 * AUC of the cosine of two embeddings [n, d] as a test of equal identity [n], over all pairs of samples. In a resample
 * a pair counts as often as both of its samples together; a sample is never compared with itself. Throws a RangeError
 * where there are too many.
 */
export function countVerificationAuc(output: TaskTensor, target: TaskTensor): CountedMetric {
  const samples = target.shape[0]!;
  if (samples > MAX_VERIFIED_SAMPLES)
    throw new RangeError(`pairs are made of at most ${MAX_VERIFIED_SAMPLES} samples, and these are ${samples}`);
  const pairs = (samples * (samples - 1)) / 2;
  const [first, second, cosines] = [new Uint16Array(pairs), new Uint16Array(pairs), new Float64Array(pairs)];
  const lengths = Float64Array.from({ length: samples }, (_, sample) => {
    const row = rowOf(output, sample);
    return Math.sqrt(multiply(row, row));
  });
  let pair = 0;
  for (let one = 0; one < samples; one++) {
    for (let other = one + 1; other < samples; other++, pair++) {
      [first[pair], second[pair]] = [one, other];
      const size = lengths[one]! * lengths[other]!;
      // A zero vector has no direction: its similarity is 0.
      cosines[pair] = size === 0 ? 0 : multiply(rowOf(output, one), rowOf(output, other)) / size;
    }
  }
  return countAreaUnderCurve(
    cosines,
    (at) => target.values[first[at]!] === target.values[second[at]!],
    (at, counts) => counts[first[at]!]! * counts[second[at]!]!,
  );
}

function multiply(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += a[index]! * b[index]!;
  return sum;
}
