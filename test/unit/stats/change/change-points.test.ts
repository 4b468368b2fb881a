import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findChangePoints } from "../../../../src/stats/change/change-points.ts";
import { fc } from "../../property.ts";
import { makeSeries } from "./otava/series.ts";

interface Vectors {
  readonly settings: readonly (readonly [windowPoints: number, maxP: number, minMagnitude: number])[];
  readonly cases: readonly {
    readonly kind: string;
    readonly seed: number;
    readonly length: number;
    readonly sum: number;
    /** Otava's indices, by setting. */
    readonly found: readonly (readonly number[])[];
    readonly detail?: readonly (readonly [p: number, meanBefore: number, standardDeviationAfter: number])[];
  }[];
}

const vectors = JSON.parse(readFileSync(new URL("otava/vectors.json", import.meta.url), "utf8")) as Vectors;

const SETTINGS = vectors.settings.map(([windowPoints, maxP, minMagnitude]) => ({
  windowPoints,
  maxP,
  minMagnitude,
}));
const KINDS = [...new Set(vectors.cases.map(({ kind }) => kind))];
const indicesOf = (points: readonly { index: number }[]) => points.map(({ index }) => index);

describe("change points", () => {
  it.each(KINDS)("are Otava's in series of %s, at every setting", (kind) => {
    for (const { seed, length, sum, found } of vectors.cases.filter((one) => one.kind === kind)) {
      const series = makeSeries(kind, seed, length);
      expect(series.reduce((total, value) => total + value, 0)).toBe(sum);
      for (const [at, settings] of SETTINGS.entries()) {
        const points = findChangePoints(series, settings);
        expect(indicesOf(points), `seed ${seed}, setting ${at}`).toEqual(found[at]);
      }
    }
  });

  it("have the figures that Otava gives of the segments that are left", () => {
    const cases = vectors.cases.filter(({ detail }) => detail !== undefined && detail.length > 0);
    expect(cases.length).toBeGreaterThan(3);
    for (const { kind, seed, length, detail } of cases) {
      for (const [at, point] of findChangePoints(makeSeries(kind, seed, length)).entries()) {
        const [p = 0, meanBefore, standardDeviationAfter] = detail?.[at] ?? [];
        expect(Math.abs(point.p - p)).toBeLessThanOrEqual(p * 1e-10);
        expect(point).toMatchObject({ meanBefore, standardDeviationAfter });
      }
    }
  });

  it("are none of nothing, of one value, and of equal values", () => {
    expect(findChangePoints([])).toEqual([]);
    expect(findChangePoints([1])).toEqual([]);
    expect(findChangePoints(Array.from({ length: 90 }, () => 0.1))).toEqual([]);
  });

  it("report size and place of a step", () => {
    const [point, ...others] = findChangePoints([10, 10, 10, 10, 12, 12, 12, 12, 12]);
    expect(others).toEqual([]);
    expect(point).toMatchObject({ index: 4, p: 0, meanBefore: 10, meanAfter: 12, standardDeviationBefore: 0 });
    expect(point?.relativeChange).toBeCloseTo(0.2);
  });

  it("stay where they are when values are scaled by a power of two", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 80 }), (series) => {
        const scaled = series.map((value) => value * 0.25);
        expect(indicesOf(findChangePoints(scaled))).toEqual(indicesOf(findChangePoints(series)));
      }),
    );
  });

  it("refuse what is no number, and a window of one", () => {
    expect(() => findChangePoints([1, Number.NaN, 2])).toThrow(RangeError);
    expect(() => findChangePoints([1, 2], { windowPoints: 1 })).toThrow(RangeError);
  });
});
