import { describe, expect, it } from "vitest";
import { percentileInterval } from "../../../../src/stats/distribution/intervals.ts";
import { recordLatencies } from "./recorded-latencies.ts";

/** The chance of exactly k of n, by logarithms of the factors. */
function chanceOf(k: number, n: number, p: number): number {
  let log = 0;
  for (let factor = 1; factor <= k; factor++) log += Math.log((n - k + factor) / factor);
  return Math.exp(log + k * Math.log(p) + (n - k) * Math.log1p(-p));
}

const chanceUpTo = (k: number, n: number, p: number) =>
  Array.from({ length: k + 1 }, (_, met) => chanceOf(met, n, p)).reduce((sum, chance) => sum + chance, 0);

describe("the interval of a percentile", () => {
  it.each([
    [0.5, 20],
    [0.5, 101],
    [0.9, 64],
    [0.99, 900],
    [0.999, 3_000],
  ])("at %d of %d samples is the narrowest with its confidence", (p, count) => {
    const { low, high } = percentileInterval(p, count, 0.99);
    // A sample is above the percentile where no more than those before it are below.
    const isAbove = (place: number) => chanceUpTo(place, count, p);
    if (low !== null) expect(isAbove(low)).toBeLessThanOrEqual(0.01);
    expect(isAbove((low ?? -1) + 1)).toBeGreaterThan(0.01);
    const isBelow = (place: number) => 1 - chanceUpTo(place, count, p);
    if (high !== null) expect(isBelow(high)).toBeLessThanOrEqual(0.01);
    expect(isBelow((high ?? count) - 1)).toBeGreaterThan(0.01);
  });

  it.each([
    [0.99, 458, { low: 447, high: null }],
    [0.99, 459, { low: 448, high: 458 }],
    [0.5, 6, { low: null, high: null }],
    [0.5, 7, { low: 0, high: 6 }],
    [0.01, 459, { low: 0, high: 10 }],
  ])("at %d of %d samples is null where they are too few", (p, count, expected) => {
    expect(percentileInterval(p, count, 0.99)).toEqual(expected);
  });

  it("holds the true percentile about as often as it says", () => {
    // Of 2,000 samples of a known distribution: the median of 1 + u is 1.5.
    const all = recordLatencies("uniform", 2_000 * 60);
    let misses = 0;
    for (let sample = 0; sample < 2_000; sample++) {
      const sorted = all.slice(sample * 60, (sample + 1) * 60).toSorted();
      const { low, high } = percentileInterval(0.5, 60, 0.95);
      if (sorted[low!]! > 1.5 || sorted[high!]! < 1.5) misses++;
    }
    // Five in a hundred a side at most, ranks being whole.
    expect(misses / 2_000).toBeLessThan(0.1);
    expect(misses / 2_000).toBeGreaterThan(0.03);
  });
});
