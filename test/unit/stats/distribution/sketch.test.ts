import { fc } from "../../property.ts";
import { describe, expect, it } from "vitest";
import {
  addToSketch,
  createSketch,
  decodeSketch,
  encodeSketch,
  mergeSketch,
  RELATIVE_ERROR,
  scaleSketch,
  type Sketch,
  sketchQuantile,
} from "../../../../src/stats/distribution/sketch.ts";

const magnitude = fc.double({ min: 1e-9, max: 1e12, noNaN: true });
/** Heavy tails: orders of magnitude are as likely as one another. */
const heavy = fc.double({ min: -9, max: 12, noNaN: true }).map((exponent) => 10 ** exponent);
const value = fc.oneof(
  magnitude,
  magnitude.map((x) => -x),
  heavy,
  heavy.map((x) => -x),
  fc.constant(0),
);
const values = fc.array(value, { minLength: 1, maxLength: 200 });
const quantile = fc.double({ min: 0, max: 1, noNaN: true });

function sketchOf(samples: readonly number[]): Sketch {
  const sketch = createSketch();
  for (const sample of samples) addToSketch(sketch, sample);
  return sketch;
}

function merged(...parts: Sketch[]): string {
  const whole = createSketch();
  for (const part of parts) mergeSketch(whole, part);
  return encodeSketch(whole);
}

describe("a sketch", () => {
  it("is off by no more than its relative error, for any sign and tail", () => {
    fc.assert(
      fc.property(values, quantile, (samples, p) => {
        const sorted = samples.toSorted((a, b) => a - b);
        const exact = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? Number.NaN;
        const found = sketchQuantile(sketchOf(samples), p);
        expect(Math.abs(found - exact)).toBeLessThanOrEqual(Math.abs(exact) * RELATIVE_ERROR * (1 + 1e-9));
      }),
      { numRuns: 500 },
    );
  });

  it("merges to the same text in any order and grouping, and as one over all", () => {
    fc.assert(
      fc.property(values, values, values, (a, b, c) => {
        const [x, y, z] = [sketchOf(a), sketchOf(b), sketchOf(c)];
        const whole = encodeSketch(sketchOf([...a, ...b, ...c]));
        expect(merged(x, y, z)).toBe(whole);
        expect(merged(z, x, y)).toBe(whole);
        expect(merged(x, decodeSketch(merged(y, z)))).toBe(whole);
      }),
    );
  });

  it("merges to the same text by any tree over any number of parts, and changes nothing by an empty one", () => {
    fc.assert(
      fc.property(fc.array(values, { minLength: 1, maxLength: 8 }), fc.infiniteStream(fc.nat()), (parts, stream) => {
        const trees = [createSketch(), ...parts.map(sketchOf)];
        const take = () => trees.splice(stream.next().value % trees.length, 1)[0] ?? createSketch();
        while (trees.length > 1) trees.push(decodeSketch(merged(take(), take())));
        expect(encodeSketch(take())).toBe(encodeSketch(sketchOf(parts.flat())));
      }),
    );
  });

  it("leaves the sketch that it merged from as it was", () => {
    const [source, target] = [sketchOf([1, -2, 0]), sketchOf([1, 5])];
    mergeSketch(target, source);
    addToSketch(target, 1);
    expect(source).toEqual(sketchOf([1, -2, 0]));
  });

  it("merged with a weight has quantiles by weight, whole or not", () => {
    const whole = createSketch();
    mergeSketch(whole, sketchOf([-1, 0, 1]), 0.1);
    mergeSketch(whole, sketchOf([5]), 0.7);
    expect(whole.count).toBeCloseTo(1);
    expect([0.05, 0.15, 0.25, 0.35, 1].map((p) => Math.round(sketchQuantile(whole, p)))).toEqual([-1, 0, 1, 5, 5]);
  });

  it("scaled is that of the scaled values, but for one more error", () => {
    fc.assert(
      fc.property(values, quantile, fc.double({ min: 0.01, max: 100, noNaN: true }), (samples, p, factor) => {
        const exact = sketchQuantile(sketchOf(samples), p) * factor;
        const found = sketchQuantile(scaleSketch(sketchOf(samples), factor), p);
        expect(Math.abs(found - exact)).toBeLessThanOrEqual(Math.abs(exact) * RELATIVE_ERROR * 1.01);
      }),
    );
  });

  it("comes back from its text", () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 100 }), (samples) => {
        const sketch = sketchOf(samples);
        expect(decodeSketch(encodeSketch(sketch))).toEqual(sketch);
      }),
    );
  });

  it("holds any number of a value by its count", () => {
    const sketch = createSketch();
    addToSketch(sketch, 3, 1_000_000);
    addToSketch(sketch, -3, 1);
    expect(decodeSketch(encodeSketch(sketch))).toEqual(sketch);
    expect(sketchQuantile(sketch, 0)).toBeCloseTo(-3, 1);
    expect(sketchQuantile(sketch, 0.5)).toBeCloseTo(3, 1);
  });

  it("refuses a text that is cut, continued or made up, by a RangeError", () => {
    fc.assert(
      fc.property(values, fc.nat(), (samples, at) => {
        const bytes = atob(encodeSketch(sketchOf(samples)));
        expect(() => decodeSketch(btoa(bytes.slice(0, at % bytes.length)))).toThrow(RangeError);
        expect(() => decodeSketch(btoa(`${bytes}\0`))).toThrow(RangeError);
      }),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.base64String(),
          fc.uint8Array({ maxLength: 40 }).map((bytes) => btoa(String.fromCharCode(1, ...bytes))),
        ),
        (text) => {
          try {
            decodeSketch(text);
          } catch (error) {
            expect(error).toBeInstanceOf(RangeError);
          }
        },
      ),
    );
    for (const text of ["", "!!!", btoa("\u0002\0\0\0"), btoa(`\u0001${"\u00ff".repeat(12)}`)])
      expect(() => decodeSketch(text)).toThrow(RangeError);
  });

  it("fits a bound of its text, where values nearest to zero count as zero and the others as before", () => {
    fc.assert(
      fc.property(values, fc.integer({ min: 24, max: 400 }), (samples, maxLength) => {
        const [whole, text] = [sketchOf(samples), encodeSketch(sketchOf(samples), maxLength)];
        expect(text.length).toBeLessThanOrEqual(maxLength);
        if (encodeSketch(whole).length <= maxLength) expect(text).toBe(encodeSketch(whole));
        const bounded = decodeSketch(text);
        expect(bounded.count).toBe(samples.length);
        for (const sign of ["positive", "negative"] as const) {
          const least = Math.min(...bounded.positive.keys(), ...bounded.negative.keys());
          expect(bounded[sign]).toEqual(new Map([...whole[sign]].filter(([index]) => index >= least)));
        }
      }),
    );
  });

  it("is written whatever its size", () => {
    const sketch = createSketch();
    for (let index = -2_000; index < 70_000; index++) {
      sketch.positive.set(index, 1e9);
      sketch.negative.set(index, 1e9);
    }
    sketch.count = 144_000 * 1e9;
    expect(decodeSketch(encodeSketch(sketch))).toEqual(sketch);
    const bounded = encodeSketch(sketch, 16_384);
    expect([bounded.length <= 16_384, decodeSketch(bounded).count]).toEqual([true, sketch.count]);
  });

  it("reads base64 as `atob` does, with or without padding and spaces", () => {
    const sketch = sketchOf(Array.from({ length: 500 }, (_, i) => i - 100));
    for (let size = 0; size < 6; size++) {
      const own = sketchOf(Array.from({ length: size }, (_, i) => i + 1));
      const text = encodeSketch(own);
      expect(decodeSketch(text.replace(/=+$/, ""))).toEqual(own);
    }
    const text = encodeSketch(sketch);
    expect(decodeSketch(` ${text.slice(0, 7)}\n${text.slice(7)}`)).toEqual(sketch);
    for (const wrong of ["é", "-", "="])
      expect(() => decodeSketch(text.slice(0, 8) + wrong + text.slice(9))).toThrow(RangeError);
  });

  it("takes finite values only, and knows nothing when it is empty", () => {
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
      expect(() => addToSketch(createSketch(), wrong)).toThrow(RangeError);
    expect(sketchQuantile(createSketch(), 0.5)).toBeNaN();
  });

  it("has a number for the largest numbers, too", () => {
    for (const largest of [Number.MAX_VALUE, -Number.MAX_VALUE, Number.MAX_VALUE / 1.5, 1e308]) {
      const sketch = createSketch();
      addToSketch(sketch, largest);
      const found = sketchQuantile(sketch, 0.5);
      expect(Math.abs(found / largest - 1)).toBeLessThan(2 * RELATIVE_ERROR);
    }
  });
});
