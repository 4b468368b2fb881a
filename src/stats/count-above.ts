import { bucketBound, scanSketch } from "./sketch.ts";

/**
 * How many values of a distribution's sketch lie above `limit` ≥ 0, to the sketch's error: a bucket counts if it lies
 * above as a whole. Throws a RangeError for what is not a sketch.
 */
export function countAbove(sketch: string, limit: number): number {
  let above = 0;
  scanSketch(sketch, (isPositive, index, count) => {
    if (isPositive && bucketBound(index - 1) >= limit) above += count;
  });
  return above;
}
