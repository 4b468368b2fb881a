import { fc } from "../../property.ts";
import { describe, expect, it } from "vitest";
import { scaleOf } from "../../../../src/edge/plots/plot-scale.ts";

describe("the scale of an axis", () => {
  it("begins at 0 and ends at a round tick where values are near each other", () => {
    const { ticks, place } = scaleOf([3, 9.2], { wanted: 5 });
    expect(ticks).toEqual([0, 2, 4, 6, 8, 10]);
    expect(place(0)).toBe(0);
    expect(place(5)).toBe(0.5);
  });

  it("ends at 0 where no value is above it, and has 0 among its ticks where values are on both sides", () => {
    const below = scaleOf([-480, -90], { wanted: 5 });
    expect(below.ticks).toEqual([-500, -400, -300, -200, -100, 0]);
    expect([below.place(-500), below.place(0)]).toEqual([0, 1]);
    expect(scaleOf([-3, 9], { wanted: 5 }).ticks).toEqual([-5, 0, 5, 10]);
  });

  it("is logarithmic over decades where they are far apart", () => {
    const { ticks, place } = scaleOf([1.2, 3, 900], { wanted: 5 });
    expect(ticks).toEqual([1, 10, 100, 1_000]);
    expect(place(10)).toBeCloseTo(1 / 3);
  });

  it("has finer ticks over few decades", () => {
    expect(scaleOf([2, 70], { wanted: 5 }).ticks).toEqual([2, 5, 10, 20, 50, 100]);
  });

  it("is logarithmic over the ticks that are given; one alone stands in the middle", () => {
    expect(scaleOf([1, 4], { wanted: 5, ticks: [1, 2, 4] }).place(2)).toBeCloseTo(0.5);
    expect(scaleOf([1], { wanted: 5, ticks: [1] }).place(1)).toBe(0.5);
  });

  it("covers every value, with two to ten rising ticks whose ends name no less", () => {
    const values = fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { maxLength: 20 });
    fc.assert(
      fc.property(values, (some) => {
        const tidy = some.map((value) => (value < 1e-6 ? 0 : value));
        const { ticks, place } = scaleOf(tidy, { wanted: 5 });
        for (const value of tidy) {
          expect(place(value)).toBeGreaterThanOrEqual(-1e-9);
          expect(place(value)).toBeLessThanOrEqual(1 + 1e-9);
        }
        expect(ticks.length).toBeGreaterThan(1);
        expect(ticks.length).toBeLessThan(17);
        expect(ticks.toSorted((a, b) => a - b)).toEqual(ticks);
      }),
    );
  });
});
