import { expect, it } from "vitest";
import { jainIndex } from "../../../../bench/simulate/jain-index.ts";

it("is 1 where all have the same, and one over their number where one has everything", () => {
  expect(jainIndex([3, 3, 3])).toBe(1);
  expect(jainIndex([5, 0, 0, 0])).toBe(0.25);
  expect(jainIndex([1, 2, 3])).toBeCloseTo(36 / 42, 12);
  expect(jainIndex([0, 0])).toBeNaN();
});
