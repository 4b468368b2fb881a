import { expect, it } from "vitest";
import { seededUniform } from "../../../../kernels/seeded-uniform.ts";
import { fitRamp } from "../../../../src/stats/change/join-drifts.ts";

/** Level 5, then up by 10 so that the value at `to` is the first that has all of it. */
const ramp = (length: number, from: number, to: number) =>
  Float64Array.from({ length }, (_, at) => 5 + 10 * Math.min(1, Math.max(0, (at - from + 1) / (to - from + 1))));

it("finds a ramp whose ends are on its grid, without residuals", () => {
  // Ends are tried at 1, 2, … 16 and at 30, 31, … 40 of the segment that begins at 2.
  const values = Float64Array.from([900, 900, ...ramp(40, 9, 33), 900]);
  const { start, end, from, to, squares, standardError } = fitRamp(values, 2, 18, 32, 42);
  expect([start, end]).toEqual([11, 35]);
  expect(from).toBeCloseTo(5, 9);
  expect(to).toBeCloseTo(15, 9);
  expect(squares).toBeLessThan(1e-9);
  expect(standardError).toBeLessThan(1e-5);
});

it("leaves the squares that a regression by hand leaves", () => {
  const noise = seededUniform(3, 1, 60);
  const values = ramp(60, 20, 40).map((value, at) => value + noise[at]!);
  const fit = fitRamp(values, 0, 30, 30, 60);
  const residuals = values.map((value, at) => {
    const done = Math.min(1, Math.max(0, (at - fit.start + 1) / (fit.end - fit.start + 1)));
    return value - fit.from - (fit.to - fit.from) * done;
  });
  expect(residuals.reduce((sum, value) => sum + value ** 2, 0)).toBeCloseTo(fit.squares, 8);
  expect(Math.abs(residuals.reduce((sum, value) => sum + value, 0))).toBeLessThan(1e-9);
});

it("is a step where that is what there is", () => {
  const fit = fitRamp(ramp(40, 20, 20), 0, 20, 20, 40);
  expect([fit.start, fit.end]).toEqual([20, 20]);
  expect(fit.squares).toBeCloseTo(0);
});
