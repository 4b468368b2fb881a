import { expect, test } from "vitest";
import { seededUniform } from "../../kernels/seeded-uniform.ts";

const LENGTH = 100_000;

test("is a pure function of seed, stream and index", () => {
  const values = seededUniform(7, 3, LENGTH);
  expect(seededUniform(7, 3, LENGTH)).toEqual(values);
  expect(seededUniform(7, 3, 100)).toEqual(values.subarray(0, 100));
});

test.each([
  ["seed", seededUniform(8, 3, LENGTH)],
  ["stream", seededUniform(7, 4, LENGTH)],
])("another %s gives unrelated values", (_, other) => {
  const values = seededUniform(7, 3, LENGTH);
  const correlation = values.reduce((sum, value, i) => sum + value * (other[i] ?? 0), 0) / (LENGTH / 3);
  // Four standard deviations of the correlation of independent values.
  expect(Math.abs(correlation)).toBeLessThan(4 / Math.sqrt(LENGTH));
});

test("is uniform in [-amplitude, amplitude)", () => {
  const values = seededUniform(1, 0, LENGTH, 4);
  const counts = Array.from({ length: 16 }, () => 0);
  for (const value of values) {
    const bin = Math.floor((value + 4) * 2);
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  expect(counts).toHaveLength(16);
  const expected = LENGTH / 16;
  const chiSquared = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  // The 99.9 % quantile for 15 degrees of freedom.
  expect(chiSquared).toBeLessThan(37.7);
});
