import { expect, it } from "vitest";
import { MigrationTimes } from "../../../../src/gpu-runner/memory/migration-times.ts";

const KiB = 1_024;

it("expects what was measured in the class of size, and before that puts near above far", () => {
  const times = new MigrationTimes();
  const guessMs = times.expectedMs("disk", "host", 50 * KiB);
  expect(guessMs).toBeGreaterThan(0);
  expect(guessMs).toBeLessThan(times.expectedMs("edge", "host", 50 * KiB));
  expect(times.expectedMs("disk", "host", 500 * KiB)).toBeGreaterThan(guessMs);
  for (const durationMs of [4, 5, 600]) {
    expect(times.expectedMs("disk", "host", 50 * KiB)).toBe(guessMs);
    times.note("disk", "host", 60 * KiB, durationMs);
  }
  expect(times.expectedMs("disk", "host", 50 * KiB)).toBeCloseTo(5, 1);
  expect(times.expectedMs("disk", "host", 500 * KiB)).not.toBeCloseTo(5, 1);
});

it("reports each pair and class with its extremes of size and its percentiles", () => {
  const times = new MigrationTimes();
  for (let durationMs = 1; durationMs <= 100; durationMs++) times.note("edge", "host", 4 * KiB, durationMs);
  times.note("edge", "host", 4 * KiB + 1, 7);
  times.note("host", "gpu", 100 * 1_024 * KiB, 9);
  const report = times.report();
  expect(report).toMatchObject([
    { from: "edge", to: "host", upToBytes: 4 * KiB, count: 100, bytes: 400 * KiB },
    { from: "edge", to: "host", upToBytes: 64 * KiB, count: 1 },
    { from: "host", to: "gpu", upToBytes: null, count: 1 },
  ]);
  expect(report[0]?.p50Ms).toBeCloseTo(51, 0);
  expect(Math.abs((report[0]?.p99Ms ?? 0) - 100)).toBeLessThan(1);
});
