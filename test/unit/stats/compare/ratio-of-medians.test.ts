import { describe, expect, it } from "vitest";
import { ratioOfMedians } from "../../../../src/stats/compare/resample-medians.ts";
import { fc } from "../../property.ts";

describe("the ratio of two medians", () => {
  it("is exact, and its interval too where nothing varies", () => {
    expect(ratioOfMedians([4, 4, 4, 4, 4], [2, 2, 2, 2, 2])).toEqual({ ratio: 2, low: 2, high: 2 });
    expect(ratioOfMedians([1, 9, 4, 4], [2, 2, 1, 3])).toEqual({ ratio: 2, low: null, high: null });
  });

  it("lies within its interval, which is the same every time", () => {
    const samples = fc.array(fc.tuple(fc.double({ min: 1, max: 9 }), fc.double({ min: 1, max: 9 })), { minLength: 5 });
    fc.assert(
      fc.property(fc.noShrink(samples), (pairs) => {
        const [a, b] = [pairs.map(([first]) => first), pairs.map(([, second]) => second)];
        const estimate = ratioOfMedians(a, b);
        expect(estimate).toEqual(ratioOfMedians(a, b));
        expect(estimate.low).toBeLessThanOrEqual(estimate.high ?? 0);
        expect(estimate.low).toBeGreaterThanOrEqual(1 / 9);
        expect(estimate.high).toBeLessThanOrEqual(9);
      }),
      { numRuns: 20 },
    );
  });

  it("holds the true ratio about as often as it says, and distinguishes noise from a gain", () => {
    let state = 1;
    const noise = () => 1 + ((state = (state * 48_271) % 0x7fffffff) / 0x7fffffff) * 0.3;
    const trials = Array.from({ length: 200 }, () => {
      const a = Array.from({ length: 24 }, () => 2 * noise());
      const b = Array.from({ length: 24 }, noise);
      return ratioOfMedians(a, b);
    });
    const held = trials.filter(({ low, high }) => (low ?? 9) <= 2 && 2 <= (high ?? 0)).length;
    expect(held).toBeGreaterThan(180);
    expect(trials.every(({ low }) => (low ?? 0) > 1)).toBe(true);
  });

  it("is not taken of samples that are not paired", () => {
    expect(() => ratioOfMedians([], [])).toThrow(RangeError);
    expect(() => ratioOfMedians([1], [1, 2])).toThrow(RangeError);
  });
});
