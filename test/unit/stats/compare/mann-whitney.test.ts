import { describe, expect, it } from "vitest";
import { effectSize, mannWhitney } from "../../../../src/stats/compare/mann-whitney.ts";
import { fc } from "../../property.ts";

const upTo = (count: number, of: (index: number) => number) => Array.from({ length: count }, (_, index) => of(index));

describe("Mann and Whitney's test", () => {
  // By scipy.stats.mannwhitneyu, which chooses its method by the same rule.
  it.each([
    ["five each", [1.1, 2.3, 3.7, 4.2, 5.9], [2, 6.1, 7.7, 8.8, 9.4], 4, 0.09523809523809523, "exact"],
    ["five below five", [1, 2, 3, 4, 5], [6, 7, 8, 9, 10], 0, 0.007936507936507936, "exact"],
    ["eight each", upTo(8, (i) => i * i + 0.5), upTo(8, (i) => i * 5), 31, 0.959129759129759, "exact"],
    [
      "eight and forty",
      upTo(8, (i) => ((i * 73) % 410) / 10 + 0.5),
      upTo(40, (i) => ((i * 31) % 290) / 10),
      167,
      0.8600331819090526,
      "exact",
    ],
    ["three and 300", [250.5, 280.5, 299.5], upTo(300, (i) => i), 832, 0.004420384393943124, "exact"],
    ["one each", [1], [2], 0, 1, "exact"],
    [
      "nine each, tied",
      [1, 4, 6, 8, 11, 14, 15, 18, 20],
      [2, 3, 5, 7, 9, 10, 12, 13, 16],
      49,
      0.47992869214595724,
      "normal",
    ],
    ["few with ties", [1, 2, 2, 3, 3, 3, 4], [2, 3, 4, 4, 5, 5, 6], 8.5, 0.043051432728945134, "normal"],
    ["nothing but ties", [3, 3, 3, 3, 3], [3, 3, 3, 3, 3], 12.5, 1, "normal"],
    [
      "many ties",
      upTo(30, (i) => (i * i) % 7),
      upTo(28, (i) => ((i * i) % 7) + (i % 2)),
      322,
      0.11971373551967342,
      "normal",
    ],
    ["far apart", upTo(60, (i) => i), upTo(60, (i) => i + 55.5), 10, 5.862657487990103e-21, "normal"],
  ] as const)("of %s is SciPy's", (_, a, b, u, p, method) => {
    const found = mannWhitney(a, b);
    expect(found).toMatchObject({ u, method });
    expect(Math.abs(found.p - p)).toBeLessThanOrEqual(1e-11 * p);
  });

  const samples = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 1, maxLength: 40 });

  it("counts pairs, sees no unit, and is the same from the other side", () => {
    fc.assert(
      fc.property(samples, samples, (a, b) => {
        const { u, p } = mannWhitney(a, b);
        let pairs = 0;
        for (const one of a) for (const other of b) pairs += (Math.sign(one - other) + 1) / 2;
        expect(u).toBe(pairs);
        expect(p).toBeGreaterThanOrEqual(0);
        expect(p).toBeLessThanOrEqual(1);
        expect(mannWhitney(b, a)).toMatchObject({ u: a.length * b.length - u, p });
        expect(mannWhitney(a.map(Math.exp), b.map(Math.exp))).toMatchObject({ u, p });
      }),
    );
  });

  it("takes two samples of finite values", () => {
    expect(() => mannWhitney([], [1])).toThrow(RangeError);
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      expect(() => mannWhitney([1, wrong], [1])).toThrow(RangeError);
    }
  });
});

describe("an effect", () => {
  it("is counted from U, and above 0 where B lies above A", () => {
    const { u } = mannWhitney([1, 2, 2, 3], [2, 3, 4]);
    // Of 12 pairs 8 have B above, 1 below, 3 are ties.
    expect(effectSize(u, 4, 3).delta).toBeCloseTo(7 / 12, 14);
    expect(effectSize(u, 4, 3).probabilityAbove).toBeCloseTo(9.5 / 12, 14);
    expect(effectSize(0, 5, 5)).toEqual({ delta: 1, probabilityAbove: 1, word: "large" });
    expect(effectSize(25, 5, 5)).toEqual({ delta: -1, probabilityAbove: 0, word: "large" });
  });

  it.each([
    [0, "negligible"],
    [0.146, "negligible"],
    [0.148, "small"],
    [0.329, "small"],
    [0.331, "medium"],
    [0.473, "medium"],
    [0.475, "large"],
  ] as const)("of %d is %s, either way", (delta, word) => {
    expect(effectSize((1 - delta) / 2, 1, 1).word).toBe(word);
    expect(effectSize((1 + delta) / 2, 1, 1).word).toBe(word);
  });
});
