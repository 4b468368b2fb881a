import { describe, expect, it } from "vitest";
import { countUpTo } from "../../../../src/stats/distribution/read-sketch.ts";
import {
  addToSketch,
  createSketch,
  encodeSketch,
  mergeSketch,
  RELATIVE_ERROR,
} from "../../../../src/stats/distribution/sketch.ts";
import { fc } from "../../property.ts";

const bounds = [1, 10, 100];

function sketchOf(values: readonly number[]) {
  const sketch = createSketch();
  for (const value of values) addToSketch(sketch, value);
  return sketch;
}

describe("counts up to bounds", () => {
  it("are those of the values, but for what lies within the sketch's error of a bound", () => {
    const value = fc.oneof(fc.double({ min: -5, max: 200, noNaN: true }), fc.constant(0));
    fc.assert(
      fc.property(fc.array(value), (values) => {
        const told = countUpTo(encodeSketch(sketchOf(values)), bounds);
        for (const [index, bound] of bounds.entries()) {
          const surely = values.filter((each) => each <= bound * (1 - 2 * RELATIVE_ERROR)).length;
          const perhaps = values.filter((each) => each <= bound * (1 + 2 * RELATIVE_ERROR)).length;
          expect(told[index]).toBeGreaterThanOrEqual(surely);
          expect(told[index]).toBeLessThanOrEqual(perhaps);
        }
        expect(told).toEqual(told.toSorted((a, b) => a - b));
      }),
    );
  });

  it("of a merged sketch are the sums of its parts", () => {
    const positive = fc.array(fc.double({ min: 0.01, max: 200, noNaN: true }));
    fc.assert(
      fc.property(positive, positive, (one, other) => {
        const merged = sketchOf(one);
        mergeSketch(merged, sketchOf(other));
        const parts = [one, other].map((values) => countUpTo(encodeSketch(sketchOf(values)), bounds));
        expect(countUpTo(encodeSketch(merged), bounds)).toEqual(
          bounds.map((_, index) => (parts[0]?.[index] ?? 0) + (parts[1]?.[index] ?? 0)),
        );
      }),
    );
  });
});
