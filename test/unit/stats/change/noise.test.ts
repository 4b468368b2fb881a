import { describe, expect, it } from "vitest";
import { summarise } from "../../../../src/stats/distribution/distribution.ts";
import { lehmer } from "../../../../src/stats/random/seeded.ts";
import { noisePointOf, runsNeeded, seriesNoise, smallestDetectable } from "../../../../src/stats/change/noise.ts";
import { normalQuantile } from "../../../../src/stats/distribution/normal.ts";
import { fc } from "../../property.ts";

/** Runs' medians with a relative noise about a level that may differ from run to run. */
function runs(count: number, noise: number, levelOf: (index: number) => number = () => 100) {
  const draw = lehmer(42);
  return Array.from({ length: count }, (_, index) => ({
    count: 30,
    median: levelOf(index) * (1 + noise * normalQuantile(draw())),
    spread: 0.07 * levelOf(index),
  }));
}

describe("the noise of a series", () => {
  it("is found again", () => {
    const { betweenRun, withinRun, runs: told } = seriesNoise(runs(400, 0.03));
    expect(betweenRun).toBeGreaterThan(0.026);
    expect(betweenRun).toBeLessThan(0.034);
    expect(withinRun).toBeCloseTo(0.07, 2);
    expect(told).toBe(400);
  });

  it.each([
    ["steps", (index: number) => 100 * 1.5 ** Math.floor(index / 50)],
    ["a drift", (index: number) => 100 * 1.01 ** index],
    ["spikes", (index: number) => (index % 40 === 7 ? 400 : 100)],
  ])("does not hold %s", (_, levelOf) => {
    const { betweenRun } = seriesNoise(runs(400, 0.03, levelOf));
    expect(betweenRun).toBeGreaterThan(0.025);
    expect(betweenRun).toBeLessThan(0.036);
  });

  it("is not known of too few runs, nor of runs that have no spread", () => {
    expect(seriesNoise([])).toEqual({ runs: 0, withinRun: null, betweenRun: null });
    expect(seriesNoise(runs(7, 0.03))).toEqual({ runs: 7, withinRun: null, betweenRun: null });
    const single = runs(9, 0.03).map((point) => ({ ...point, count: 1, spread: 0 }));
    expect(seriesNoise(single).withinRun).toBeNull();
    expect(seriesNoise(single).betweenRun).toBeGreaterThan(0);
    const zeros = Array.from({ length: 8 }, () => ({ count: 9, median: 0, spread: 0 }));
    expect(seriesNoise(zeros)).toEqual({ runs: 8, withinRun: null, betweenRun: 0 });
  });

  it("knows no unit", () => {
    const points = runs(30, 0.05);
    const scaled = points.map(({ count, median, spread }) => ({
      count,
      median: median * 1_024,
      spread: spread * 1_024,
    }));
    expect(seriesNoise(scaled)).toEqual(seriesNoise(points));
  });

  it("has the spread of a stored point from its sketch", () => {
    const draw = lehmer(3);
    const { count, median, spread } = noisePointOf(
      summarise(Array.from({ length: 5_000 }, () => 50 + 4 * normalQuantile(draw()))),
    );
    expect(count).toBe(5_000);
    expect(median).toBeCloseTo(50, 0);
    expect(spread).toBeGreaterThan(3.7);
    expect(spread).toBeLessThan(4.3);
  });
});

describe("the smallest detectable change", () => {
  // The formula by scipy.stats.t.ppf.
  it.each([
    [0.03, 5, 0.05, 0.8, 0.06061884495242717],
    [0.05, 30, 0.05, 0.8, 0.036787918982903636],
    [0.02, 2, 0.01, 0.9, 0.2362092256816483],
  ])("of noise %d with %d runs is that of the formula", (betweenRun, count, alpha, power, change) => {
    expect(smallestDetectable({ betweenRun, runs: count, alpha, power })).toBeCloseTo(change, 12);
  });

  it("is found by a t-test about as often as it says", () => {
    const draw = lehmer(11);
    const [count, noise] = [8, 0.04];
    const change = smallestDetectable({ betweenRun: noise, runs: count }) ?? 0;
    const side = (level: number) => {
      const values = Array.from({ length: count }, () => level + noise * normalQuantile(draw()));
      const mean = values.reduce((sum, value) => sum + value, 0) / count;
      return { mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1) };
    };
    let found = 0;
    for (let trial = 0; trial < 2_000; trial++) {
      const [a, b] = [side(1), side(1 + change)];
      // 2.1448 is t's 0.975 quantile of 14 degrees of freedom.
      if (Math.abs(b.mean - a.mean) > 2.1448 * Math.sqrt((a.variance + b.variance) / count)) found++;
    }
    expect(found / 2_000).toBeGreaterThan(0.76);
    expect(found / 2_000).toBeLessThan(0.84);
  });

  it("is never below the noise floor, and unknown of one run", () => {
    expect(smallestDetectable({ betweenRun: 0, runs: 10 })).toBe(0.01);
    expect(smallestDetectable({ betweenRun: 0, runs: 10, noiseFloor: 0.002 })).toBe(0.002);
    expect(smallestDetectable({ betweenRun: 0.1, runs: 1 })).toBeNull();
  });

  it("is the inverse of the runs that a change needs", () => {
    const noise = fc.double({ min: 0.001, max: 1, noNaN: true });
    const odds = fc.record({
      alpha: fc.constantFrom(0.001, 0.01, 0.05, 0.1),
      power: fc.constantFrom(0.5, 0.8, 0.9, 0.99),
      noiseFloor: fc.constantFrom(0, 0.01),
    });
    fc.assert(
      fc.property(noise, odds, fc.integer({ min: 2, max: 3_000 }), (betweenRun, options, count) => {
        const asked = { betweenRun, ...options };
        const change = smallestDetectable({ ...asked, runs: count }) ?? 0;
        const needed = runsNeeded({ ...asked, change }) ?? 0;
        if (change > options.noiseFloor) expect(needed).toBe(count);
        else expect(needed).toBeLessThanOrEqual(count);
        expect(smallestDetectable({ ...asked, runs: needed })).toBeLessThanOrEqual(change);
        if (needed > 2) expect(smallestDetectable({ ...asked, runs: needed - 1 })).toBeGreaterThan(change);
      }),
    );
  });

  it("needs more runs than anyone has where it is small", () => {
    expect(runsNeeded({ betweenRun: 0.05, change: 0.009 })).toBeNull();
    expect(runsNeeded({ betweenRun: 9, change: 0.01 })).toBeNull();
    expect(runsNeeded({ betweenRun: 0, change: 0.01 })).toBe(2);
    expect(runsNeeded({ betweenRun: 0, change: 0, noiseFloor: 0 })).toBe(2);
  });
});
