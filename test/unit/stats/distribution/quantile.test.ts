import { expect, test } from "vitest";
import { quantile } from "../../../../src/stats/distribution/summary.ts";

// By numpy.percentile.
test.each([
  [0, 1],
  [0.1, 1],
  [0.25, 1.75],
  [0.5, 3.5],
  [0.9, 6.9],
  [1, 9],
])("the quantile %d lies between two ranks, at %d", (p, expected) => {
  const values = [3, 1, 4, 1, 5, 9, 2, 6];
  expect(quantile(values, p)).toBeCloseTo(expected, 12);
  expect(values[0]).toBe(3);
});

test("there is none of nothing", () => {
  expect(() => quantile([], 0.5)).toThrow(RangeError);
  expect(quantile([7], 0.3)).toBe(7);
});
