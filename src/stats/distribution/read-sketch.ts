import {
  bucketBound,
  bucketValue,
  createSketch,
  mergeSketch,
  scanSketch,
  type Sketch,
  sketchQuantile,
} from "./sketch.ts";

/** A sketch with what each of its counts weighs. */
export interface WeightedSketch {
  readonly sketch: Sketch;
  readonly weight: number;
}

/** Buckets of positive values, rising. */
interface SortedBuckets {
  readonly indices: Int32Array;
  readonly counts: Float64Array;
}

const sorted = new WeakMap<Sketch, SortedBuckets>();

/**
 * Quantile of two sketches added by weight, equal to `mergeSketch` and `sketchQuantile` but without adding them. It
 * costs a tenth for a `settled` sketch, to which nothing is added any more, and one of few buckets.
 */
export function blendedQuantile(settled: WeightedSketch, recent: WeightedSketch, p: number): number {
  if (settled.sketch.negative.size > 0 || recent.sketch.negative.size > 0) return mergedQuantile(settled, recent, p);
  const known = sorted.get(settled.sketch) ?? sortBuckets(settled.sketch);
  sorted.set(settled.sketch, known);
  const few = sortBuckets(recent.sketch);
  let left = p * (settled.sketch.count * settled.weight + recent.sketch.count * recent.weight);
  const zeros = settled.sketch.zeros * settled.weight + recent.sketch.zeros * recent.weight;
  if (left < zeros) return 0;
  left -= zeros;
  let last = zeros > 0 ? 0 : Number.NaN;
  for (let first = 0, second = 0; first < known.indices.length || second < few.indices.length;) {
    const fromKnown = known.indices[first] ?? Infinity;
    const fromFew = few.indices[second] ?? Infinity;
    const index = Math.min(fromKnown, fromFew);
    let count = 0;
    if (fromKnown === index) count += known.counts[first++]! * settled.weight;
    if (fromFew === index) count += few.counts[second++]! * recent.weight;
    last = index;
    if (left < count) return bucketValue(index);
    left -= count;
  }
  return known.indices.length + few.indices.length === 0 ? last : bucketValue(last);
}

function mergedQuantile(settled: WeightedSketch, recent: WeightedSketch, p: number): number {
  const merged = createSketch();
  for (const { sketch, weight } of [settled, recent]) mergeSketch(merged, sketch, weight);
  return sketchQuantile(merged, p);
}

function sortBuckets({ positive }: Sketch): SortedBuckets {
  const indices = Int32Array.from(positive.keys()).toSorted();
  return { indices, counts: Float64Array.from(indices, (index) => positive.get(index)!) };
}

/**
 * Number of values above `limit` ≥ 0, to the sketch's error: a bucket counts if all of it lies above. Throws a
 * RangeError for an invalid sketch.
 */
export function countAbove(sketch: string, limit: number): number {
  let above = 0;
  scanSketch(sketch, (isPositive, index, count) => {
    if (isPositive && bucketBound(index - 1) >= limit) above += count;
  });
  return above;
}

/**
 * Number of values at most each of these rising bounds, all above 0. A bucket counts as a whole at its middle, so a
 * value is on the wrong side only within the sketch's error of a bound. Merging never lowers a count. Throws a
 * RangeError for an invalid sketch.
 */
export function countUpTo(sketch: string, bounds: readonly number[]): number[] {
  const counts = bounds.map(() => 0);
  const count = (value: number, times: number) => {
    const first = bounds.findIndex((bound) => value <= bound);
    if (first >= 0) counts[first] = (counts[first] ?? 0) + times;
  };
  let negatives = 0;
  const zeros = scanSketch(sketch, (isPositive, index, times) => {
    if (isPositive) count(bucketValue(index), times);
    else negatives += times;
  });
  count(0, zeros + negatives);
  let sum = 0;
  return counts.map((each) => (sum += each));
}
