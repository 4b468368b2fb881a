import { bucketValue, scanSketch } from "./sketch.ts";

/**
 * How many values of a distribution's sketch are at most each of these rising bounds, all above 0: a bucket of the
 * sketch counts as a whole where its middle lies, so a value is on the wrong side only within the sketch's error of a
 * bound. Added to by merging, no count ever falls. Throws a RangeError for what is not a sketch.
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
