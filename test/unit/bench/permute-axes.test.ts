import { expect, test } from "vitest";
import { permuteAxes } from "../../../bench/kernel-contest/permute-axes.ts";

test("two axes are transposed", () => {
  expect([...permuteAxes(Float32Array.of(1, 2, 3, 4, 5, 6), [2, 3], [1, 0])]).toEqual([1, 4, 2, 5, 3, 6]);
});

test("what is permuted there and back is what it was", () => {
  const values = Float32Array.from({ length: 120 }, (_, index) => index);
  const channelsFirst = permuteAxes(values, [2, 3, 4, 5], [0, 3, 1, 2]);
  expect(channelsFirst[1]).toBe(5);
  expect(permuteAxes(channelsFirst, [2, 5, 3, 4], [0, 2, 3, 1])).toEqual(values);
});
