import { expect, it } from "vitest";
import { wilsonInterval } from "../../../../src/stats/distribution/intervals.ts";

// By statsmodels' proportion_confint(method="wilson").
it.each([
  [1967, 1996, 0.979211803573908, 0.9898650157169762],
  [225, 1996, 0.09958854691985924, 0.12735017205655616],
  [0, 10, 0, 0.27753279986288926],
  [10, 10, 0.7224672001371107, 1],
])("%i of %i", (count, trials, low, high) => {
  const found = wilsonInterval(count, trials);
  expect(found.low).toBeCloseTo(low, 9);
  expect(found.high).toBeCloseTo(high, 9);
});

it("has no share of nothing", () => {
  expect(() => wilsonInterval(0, 0)).toThrow(RangeError);
});
