import { expect, test } from "vitest";
import { median } from "../../../../src/stats/distribution/summary.ts";

test.each([
  [[7], 7],
  [[3, 1, 2], 2],
  [[4, 1, 3, 2], 2.5],
  [[10, 9, 100], 10],
])("of %j is %d", (values, expected) => {
  expect(median(values)).toBe(expected);
});

test("leaves the values in their order", () => {
  const values = [2, 1];
  median(values);
  expect(values).toEqual([2, 1]);
});

test("there is none of nothing", () => {
  expect(() => median([])).toThrow(RangeError);
});
