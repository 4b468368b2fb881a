import { describe, expect, it } from "vitest";
import { lehmer } from "../../../../src/stats/random/seeded.ts";
import { robustTrend } from "../../../../src/stats/change/robust-trend.ts";

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("a robust trend", () => {
  it("has the slope of most points, whatever the others are", () => {
    const x = upTo(12).map((index) => 10 * index);
    const y = x.map((value) => 3 * value + 7);
    expect(robustTrend(x, y)?.slope).toBeCloseTo(3, 12);
    [y[1], y[6], y[10]] = [1e9, -1e9, 1e9];
    expect(robustTrend(x, y)?.slope).toBeCloseTo(3, 12);
  });

  it("has the chance of the test of Mann and Kendall, ties among the values or not", () => {
    // S = 45 of variance 10·9·25/18, and S = 24 of variance (8·7·21 − 4·2·1·9)/18.
    expect(robustTrend(upTo(10), upTo(10))?.p).toBeCloseTo(4.15153e-5, 9);
    expect(robustTrend(upTo(8), [1, 1, 2, 2, 3, 3, 4, 4])?.p).toBeCloseTo(1.658e-3, 6);
    expect(robustTrend(upTo(10), upTo(10).toReversed())?.p).toBeCloseTo(1 - 4.15153e-5, 9);
    expect(robustTrend(upTo(10), Array<number>(10).fill(4))).toEqual({ slope: 0, low: 0, high: 0, p: 1 });
  });

  it("takes noise for a rise as often as its chance says", () => {
    const draw = lehmer();
    const rises = upTo(1_000).filter(() => robustTrend(upTo(12), upTo(12).map(draw))!.p < 0.05);
    expect(rises.length).toBeGreaterThan(25);
    expect(rises.length).toBeLessThan(75);
  });

  it("has the true slope in its interval as often as it says", () => {
    const draw = lehmer();
    const held = upTo(1_000).filter(() => {
      const { low, high } = robustTrend(
        upTo(20),
        upTo(20).map((x) => 0.1 * x + draw()),
      )!;
      return low <= 0.1 && high >= 0.1;
    });
    expect(held.length).toBeGreaterThan(920);
    expect(held.length).toBeLessThan(985);
  });

  it("says nothing of too few points", () => {
    expect(robustTrend(upTo(7), upTo(7))).toBeNull();
  });
});
