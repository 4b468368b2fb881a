import { describe, expect, it, test } from "vitest";
import { normalCdf, normalQuantile } from "../../../../src/stats/distribution/normal.ts";

test.each([
  [0.5, 0],
  [0.75, 0.6744897501960817],
  [0.975, 1.959963984540054],
  [1e-10, -6.361340902404056],
  [1e-20, -9.262340089798409],
])("the quantile of %d is %d", (p, quantile) => {
  expect(normalQuantile(p)).toBeCloseTo(quantile, 13);
  if (p > 1e-9) expect(normalQuantile(1 - p)).toBeCloseTo(-quantile, 13);
});

describe("the share below", () => {
  // By mpmath at forty digits.
  it.each([
    [-38, 2.88542835e-316],
    [-9.262340089798409, 9.999999999999893e-21],
    [-3, 0.0013498980316300946],
    [-2.5000001, 0.006209663572946307],
    [-2.4999999, 0.0062096670786064],
    [-1, 0.15865525393145705],
    [-1e-9, 0.49999999960105773],
    [0, 0.5],
    [0.5, 0.6914624612740131],
    [1.959963984540054, 0.975],
    [2.6, 0.9953388119762813],
    [8, 0.9999999999999993],
    [Number.NEGATIVE_INFINITY, 0],
    [Number.POSITIVE_INFINITY, 1],
  ])("%d is %d", (z, share) => {
    expect(Math.abs(normalCdf(z) - share)).toBeLessThanOrEqual(1e-13 * share);
  });

  it("is what the quantile inverts", () => {
    for (const p of [1e-12, 0.001, 0.3, 0.5, 0.8, 0.999]) expect(normalCdf(normalQuantile(p)) / p).toBeCloseTo(1, 12);
  });
});
