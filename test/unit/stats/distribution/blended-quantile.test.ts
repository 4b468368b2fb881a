import { expect, it } from "vitest";
import { blendedQuantile } from "../../../../src/stats/distribution/read-sketch.ts";
import { addToSketch, createSketch, mergeSketch, sketchQuantile } from "../../../../src/stats/distribution/sketch.ts";
import { fc } from "../../property.ts";

const sketchOf = (values: readonly number[]) => {
  const sketch = createSketch();
  for (const value of values) addToSketch(sketch, value);
  return sketch;
};
/** Weights that doubles add up exactly, so that the order of adding changes nothing. */
const weight = fc.integer({ min: 0, max: 8 }).map((power) => 2 ** (power - 4));
const values = (min: number) =>
  fc.array(fc.oneof(fc.constant(0), fc.double({ min, max: 1_000, noNaN: true })), { maxLength: 30 });
const p = fc.integer({ min: 0, max: 64 }).map((share) => share / 64);

it.each([
  ["durations", 0],
  ["values below zero, too", -1_000],
])("the quantile of two sketches is that of the merged one: %s", (_kind, min) => {
  fc.assert(
    fc.property(values(min), values(min), weight, weight, p, (first, second, firstWeight, secondWeight, share) => {
      const [settled, recent, merged] = [sketchOf(first), sketchOf(second), createSketch()];
      mergeSketch(merged, settled, firstWeight);
      mergeSketch(merged, recent, secondWeight);
      const blended = blendedQuantile(
        { sketch: settled, weight: firstWeight },
        { sketch: recent, weight: secondWeight },
        share,
      );
      expect(blended).toEqual(sketchQuantile(merged, share));
    }),
    { numRuns: 1_000 },
  );
});

it("is not a number where there is none", () => {
  const empty = { sketch: createSketch(), weight: 1 };
  expect(blendedQuantile(empty, empty, 0.5)).toBeNaN();
});
