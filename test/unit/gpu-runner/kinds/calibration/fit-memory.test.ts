import { array, assert, integer, nat, property, record } from "fast-check";
import { expect, it } from "vitest";
import { fitMemory, type MemorySample } from "../../../../../src/gpu-runner/kinds/calibration/sweep-batches.ts";

const line = (base: number, perRow: number): MemorySample[] =>
  [1, 2, 4, 8].map((rows) => ({ rows, bytes: base + perRow * rows }));

it("finds the line that the samples lie on", () => {
  const fit = fitMemory(line(1_000, 24));
  expect(fit?.baseBytes).toBeCloseTo(1_000, 6);
  expect(fit?.bytesPerRow).toBeCloseTo(24, 6);
});

it("is the least squares line of samples that lie on none", () => {
  // Worked by hand: mean rows 2, mean bytes 14/3, slope 2, base 2/3.
  const fit = fitMemory([
    { rows: 1, bytes: 3 },
    { rows: 2, bytes: 4 },
    { rows: 3, bytes: 7 },
  ]);
  expect(fit?.baseBytes).toBeCloseTo(2 / 3, 9);
  expect(fit?.bytesPerRow).toBeCloseTo(2, 9);
});

it("takes what shrinks with the batch for memory that does not depend on it", () => {
  expect(fitMemory(line(1_000, -10))).toEqual({ baseBytes: 1_000 - 37.5, bytesPerRow: 0 });
});

it("begins at nothing where the line begins below", () => {
  const fit = fitMemory(line(-3, 10));
  expect(fit?.baseBytes).toBe(0);
  expect(fit?.bytesPerRow).toBeCloseTo((10 * 85 - 3 * 15) / 85, 9);
});

it("knows of one batch size its memory, and nothing without samples", () => {
  expect(fitMemory([{ rows: 1, bytes: 77 }])).toEqual({ baseBytes: 77, bytesPerRow: 0 });
  expect(fitMemory([])).toBeNull();
});

it("is never negative", () => {
  const samples = array(record({ rows: integer({ min: 1, max: 256 }), bytes: nat() }), { minLength: 1 });
  assert(
    property(samples, (each) => {
      const fit = fitMemory(each)!;
      expect(fit.baseBytes).toBeGreaterThanOrEqual(0);
      expect(fit.bytesPerRow).toBeGreaterThanOrEqual(0);
    }),
  );
});
