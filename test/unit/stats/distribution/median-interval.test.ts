import { expect, it } from "vitest";
import { seededUniform } from "../../../../kernels/seeded-uniform.ts";
import { summarise } from "../../../../src/stats/distribution/distribution.ts";
import { medianInterval } from "../../../../src/stats/distribution/intervals.ts";

const upTo = (count: number) => summarise(Array.from({ length: count }, (_, index) => index + 1));

it("has the ranks that the literature gives", () => {
  // Campbell and Gardner's table for 95 %: ranks of n.
  for (const [n, low, high] of [
    [6, 1, 6],
    [10, 2, 9],
    [20, 6, 15],
    [50, 18, 33],
    [100, 40, 61],
  ] as const) {
    const interval = medianInterval(upTo(n));
    expect(interval?.low).toBeCloseTo(low, 0);
    expect(interval?.high).toBeCloseTo(high, 0);
  }
});

it("is none of fewer than six samples", () => {
  expect(medianInterval(upTo(5))).toBeNull();
  expect(medianInterval(upTo(1))).toBeNull();
});

it("covers the true median about as often as it says", () => {
  let covered = 0;
  for (let trial = 0; trial < 1_000; trial++) {
    const samples = seededUniform(7, trial, 20).map((value) => Math.exp(value));
    const { low, high } = medianInterval(summarise(samples)) ?? { low: 0, high: 0 };
    if (low <= 1 && high >= 1) covered++;
  }
  expect(covered).toBeGreaterThan(925);
  expect(covered).toBeLessThan(980);
});
