import { expect, test } from "vitest";
import {
  addToDistribution,
  closeDistribution,
  mergeDistributions,
  openDistribution,
  summarise,
} from "../../../../src/stats/distribution/distribution.ts";
import { RELATIVE_ERROR } from "../../../../src/stats/distribution/sketch.ts";
import { fc } from "../../property.ts";

const times = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 200 });

function add(values: readonly number[]) {
  const open = openDistribution();
  for (const value of values) addToDistribution(open, value);
  return open;
}

test("values added one by one give what they give together, percentiles within the sketch's error", () => {
  fc.assert(
    fc.property(times, (values) => {
      const closed = closeDistribution(add(values))!;
      const exact = summarise(values);
      expect(closed).toMatchObject({ count: exact.count, min: exact.min, max: exact.max, sketch: exact.sketch });
      expect(closed.mean).toBeCloseTo(exact.mean, 4);
      // Squares of large values cost digits.
      expect(Math.abs(closed.standardDeviation - exact.standardDeviation)).toBeLessThanOrEqual(1e-6 * exact.max + 1e-9);
      for (const p of ["p50", "p90", "p95", "p99"] as const) {
        expect(Math.abs(closed[p] - exact[p])).toBeLessThanOrEqual(RELATIVE_ERROR * exact[p] * 1.001 + 1e-9);
      }
    }),
  );
});

test("two merged are as one that saw all, and neither is changed", () => {
  fc.assert(
    fc.property(times, times, (one, other) => {
      const [first, second] = [add(one), add(other)];
      const before = closeDistribution(first);
      const {
        sum: _,
        mean: __,
        standardDeviation: ___,
        ...merged
      } = closeDistribution(mergeDistributions(first, second))!;
      expect(closeDistribution(add([...one, ...other]))).toMatchObject(merged);
      expect(closeDistribution(first)).toEqual(before);
    }),
  );
});

test("of nothing there is no distribution", () => {
  expect(closeDistribution(openDistribution())).toBeNull();
  expect(closeDistribution(mergeDistributions(openDistribution(), openDistribution()))).toBeNull();
});
