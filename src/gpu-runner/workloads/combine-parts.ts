import { LIMITS } from "../../protocol/limits.ts";
import type { BenchmarkMeasurement } from "../gpu/benchmark-kernel.ts";

/** What one device measured of its share of a batch. */
export interface MeasuredPart {
  readonly deviceKey: string;
  readonly batch: number;
  readonly measured: BenchmarkMeasurement;
}

/**
 * One result of parts that ran at the same time: the batch and the rates are sums, errors the largest,
 * and durations those of the part that took longest, which the whole waits for.
 */
export function combineParts(parts: readonly MeasuredPart[], dimension: string): BenchmarkMeasurement {
  const slowest = parts.map(({ measured }) => measured).toSorted((a, b) => b.wallMs.p50 - a.wallMs.p50)[0];
  if (slowest === undefined) throw new TypeError("there are no parts");
  const checks = parts.map(({ measured }) => measured.correctness);
  const faults = parts.flatMap(({ measured }) => measured.faults ?? []);
  const sum = (of: (part: MeasuredPart) => number) => parts.reduce((total, part) => total + of(part), 0);
  return {
    ...slowest,
    shape: { ...slowest.shape, [dimension]: sum(({ batch }) => batch) },
    correctness: {
      ...slowest.correctness,
      checkedElements: sum(({ measured }) => measured.correctness.checkedElements),
      maxAbsoluteError: Math.max(...checks.map(({ maxAbsoluteError }) => maxAbsoluteError)),
      maxRelativeError: Math.max(...checks.map(({ maxRelativeError }) => maxRelativeError)),
    },
    // Each device has its own.
    counters: null,
    gflops: slowest.gflops === null ? null : sum(({ measured }) => measured.gflops ?? 0),
    gigabytesPerSecond: sum(({ measured }) => measured.gigabytesPerSecond),
    parts: parts.map(({ deviceKey, batch, measured }) => ({
      deviceKey,
      batch,
      p50Ms: measured.wallMs.p50,
      gigabytesPerSecond: measured.gigabytesPerSecond,
    })),
    ...(faults.length > 0 && { faults: faults.slice(0, LIMITS.faults) }),
  };
}
