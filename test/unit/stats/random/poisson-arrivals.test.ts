import { expect, it } from "vitest";
import { drawPoissonArrivals } from "../../../../src/stats/random/draws.ts";

const draw = (ratePerS: number, seed: number, count: number) => {
  const arrivals = drawPoissonArrivals(ratePerS, seed);
  return Float64Array.from({ length: count }, () => arrivals.next().value);
};

it("draws gaps that are exponential, the same for the same seed", () => {
  const times = draw(200, 7, 20_000);
  const gaps = times.map((atMs, index) => atMs - (times[index - 1] ?? 0));
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  expect(mean).toBeGreaterThan(4.85);
  expect(mean).toBeLessThan(5.15);
  // Of an exponential distribution, the share above its mean is 1/e.
  expect(gaps.filter((gap) => gap > 5).length / gaps.length).toBeCloseTo(1 / Math.E, 1);
  expect(gaps.every((gap) => gap > 0)).toBe(true);
  expect(draw(200, 7, 50)).toEqual(times.subarray(0, 50));
  expect(draw(200, 8, 50)).not.toEqual(times.subarray(0, 50));
});

it("scales a trace by its rate", () => {
  const slow = draw(10, 3, 100);
  expect(draw(20, 3, 100).every((atMs, index) => Math.abs(atMs * 2 - slow[index]!) < 1e-6)).toBe(true);
});
