import { expect, it } from "vitest";
import { countAbove } from "../../../../src/stats/distribution/read-sketch.ts";
import { summarise } from "../../../../src/stats/distribution/distribution.ts";

it("counts the values of a sketch above a limit, to the error of the sketch", () => {
  const values = Array.from({ length: 1_000 }, (_, index) => index + 1);
  const { sketch } = summarise(values);
  expect(countAbove(sketch, 0)).toBe(1_000);
  expect(countAbove(sketch, 2_000)).toBe(0);
  for (const limit of [1.5, 10, 137, 500, 990]) {
    // Values of one bucket cannot be separated: those within two in a hundred of the limit may be missed.
    expect(countAbove(sketch, limit)).toBeLessThanOrEqual(values.filter((value) => value > limit).length);
    expect(countAbove(sketch, limit)).toBeGreaterThanOrEqual(values.filter((value) => value > 1.02 * limit).length);
  }
});

it("does not count what is negative or nothing", () => {
  expect(countAbove(summarise([-5, -1, 0, 0, 3]).sketch, 0)).toBe(1);
});
