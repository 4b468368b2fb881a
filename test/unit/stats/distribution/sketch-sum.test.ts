import { describe, expect, it } from "vitest";
import {
  addToSketch,
  createSketch,
  encodeSketch,
  mergeSketch,
  sketchQuantiles,
  type Sketch,
} from "../../../../src/stats/distribution/sketch.ts";
import {
  addSketchText,
  clearSketchSum,
  createSketchSum,
  sumQuantiles,
  textQuantiles,
  toSketch,
} from "../../../../src/stats/distribution/sketch-sum.ts";
import { fc } from "../../property.ts";

const heavy = fc.double({ min: -14, max: 300, noNaN: true }).map((exponent) => 10 ** exponent);
const near = fc.double({ min: 0.5, max: 20, noNaN: true });
const value = fc.oneof(
  near,
  near.map((x) => -x),
  heavy,
  heavy.map((x) => -x),
  fc.constant(0),
);
const samples = fc.array(value, { maxLength: 40 });
const PS = [0.99, 0, 0.5, 0.05, 1, 0.5];

function sketchOf(values: readonly number[]): Sketch {
  const sketch = createSketch();
  for (const one of values) addToSketch(sketch, one);
  return sketch;
}

describe("a sum of sketches", () => {
  it("is the sketch that merging them gives, and has its quantiles, however often it is used", () => {
    const sum = createSketchSum();
    fc.assert(
      fc.property(fc.array(samples, { maxLength: 6 }), (parts) => {
        const merged = createSketch();
        clearSketchSum(sum);
        for (const sketch of parts.map(sketchOf)) {
          mergeSketch(merged, sketch);
          addSketchText(sum, encodeSketch(sketch));
        }
        expect(toSketch(sum)).toEqual(merged);
        expect(encodeSketch(toSketch(sum))).toBe(encodeSketch(merged));
        expect(sumQuantiles(sum, PS)).toEqual(sketchQuantiles(merged, PS));
      }),
      { numRuns: 300 },
    );
  });

  it("of one text needs none of its own for quantiles", () => {
    fc.assert(
      fc.property(samples, (values) => {
        const sketch = sketchOf(values);
        expect(textQuantiles(encodeSketch(sketch), PS)).toEqual(sketchQuantiles(sketch, PS));
      }),
      { numRuns: 300 },
    );
    const many = sketchOf(Array.from({ length: 2_000 }, (_, i) => 1.02 ** (i - 1_000) * (i % 2 === 0 ? 1 : -1)));
    expect(textQuantiles(encodeSketch(many), PS)).toEqual(sketchQuantiles(many, PS));
  });

  it("takes the ends of what a number can be, and no bucket beyond them", () => {
    const sum = createSketchSum();
    const ends = sketchOf([1e-12, Number.MAX_VALUE, -Number.MAX_VALUE, -1e-12]);
    addSketchText(sum, encodeSketch(ends));
    expect(toSketch(sum)).toEqual(ends);
    for (const index of [100_000, -3_000, 2 ** 40]) {
      const text = encodeSketch({ positive: new Map([[index, 1]]), negative: new Map(), zeros: 0, count: 1 });
      expect(() => addSketchText(createSketchSum(), text)).toThrow(RangeError);
    }
  });
});
