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

/** Indices of the buckets of positive values, rising. Buckets are added to a sketch, and never taken away. */
const sorted = new WeakMap<Sketch, Int32Array>();

function sortedIndices(sketch: Sketch): Int32Array {
  const known = sorted.get(sketch);
  if (known?.length === sketch.positive.size) return known;
  const indices = Int32Array.from(sketch.positive.keys()).toSorted();
  sorted.set(sketch, indices);
  return indices;
}

/**
 * Quantile of two sketches added by weight, equal to `mergeSketch` and `sketchQuantile` but without adding them: only new
 * buckets are sorted again.
 */
export function blendedQuantile(one: WeightedSketch, other: WeightedSketch, p: number): number {
  if (one.sketch.negative.size > 0 || other.sketch.negative.size > 0) return mergedQuantile(one, other, p);
  const [ofOne, ofOther] = [sortedIndices(one.sketch), sortedIndices(other.sketch)];
  let left = p * (one.sketch.count * one.weight + other.sketch.count * other.weight);
  const zeros = one.sketch.zeros * one.weight + other.sketch.zeros * other.weight;
  if (left < zeros) return 0;
  left -= zeros;
  let last = zeros > 0 ? 0 : Number.NaN;
  for (let first = 0, second = 0; first < ofOne.length || second < ofOther.length;) {
    const fromOne = ofOne[first] ?? Infinity;
    const fromOther = ofOther[second] ?? Infinity;
    const index = Math.min(fromOne, fromOther);
    let count = 0;
    if (fromOne === index) count += one.sketch.positive.get(ofOne[first++]!)! * one.weight;
    if (fromOther === index) count += other.sketch.positive.get(ofOther[second++]!)! * other.weight;
    last = index;
    if (left < count) return bucketValue(index);
    left -= count;
  }
  return ofOne.length + ofOther.length === 0 ? last : bucketValue(last);
}

function mergedQuantile(settled: WeightedSketch, recent: WeightedSketch, p: number): number {
  const merged = createSketch();
  for (const { sketch, weight } of [settled, recent]) mergeSketch(merged, sketch, weight);
  return sketchQuantile(merged, p);
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
