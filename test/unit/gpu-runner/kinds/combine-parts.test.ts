import { describe, expect, it } from "vitest";
import { combineParts } from "../../../../src/gpu-runner/kinds/benchmark.ts";
import { BenchmarkResult } from "../../../../src/protocol/jobs/benchmark.ts";
import { benchmarkResult } from "../../../edge/stack/samples.ts";

const samplesOf = (wallMs: number) => ({ wallMs: Float64Array.of(wallMs), gpuMs: null });

function part(deviceKey: string, batch: number, wallMs: number, changes: object = {}) {
  const { kind: _, environment: __, ...measured } = benchmarkResult([wallMs]);
  return {
    deviceKey,
    batch,
    measured: {
      ...measured,
      shape: { n: 8, batch },
      gflops: 2,
      traceText: null,
      samples: samplesOf(wallMs),
      ...changes,
    },
  };
}

describe("parts of a batch", () => {
  it("make one result: sums of batch and rates, durations of the slowest, the largest errors", () => {
    const correctness = { ...part("gpu0", 1, 1).measured.correctness, maxAbsoluteError: 0.5, checkedElements: 10 };
    const fault = { code: "device-lost", detail: "It died.", action: "retried" } as const;
    const parts = [
      part("gpu0", 3, 10, { correctness }),
      part("gpu1", 9, 12, { gigabytesPerSecond: 6, faults: [fault] }),
    ];
    const combined = combineParts(parts, "batch");
    expect(combined.shape).toEqual({ n: 8, batch: 12 });
    expect(combined.wallMs.p50).toBe(12);
    expect(combined.samples).toEqual(samplesOf(12));
    expect(combined).toMatchObject({ gflops: 4, gigabytesPerSecond: 10, faults: [fault] });
    expect(combined.correctness).toMatchObject({ maxAbsoluteError: 0.5, checkedElements: 74 });
    expect(combined.parts).toEqual([
      { deviceKey: "gpu0", batch: 3, p50Ms: 10, gigabytesPerSecond: 4 },
      { deviceKey: "gpu1", batch: 9, p50Ms: 12, gigabytesPerSecond: 6 },
    ]);
    const { environment } = benchmarkResult();
    expect(BenchmarkResult.parse({ ...combined, kind: "benchmark", environment }).parts).toHaveLength(2);
  });

  it("have no GFLOP/s where the kernel has none", () => {
    const parts = [part("gpu0", 1, 1, { gflops: null }), part("gpu1", 1, 2, { gflops: null })];
    expect(combineParts(parts, "batch")).toMatchObject({ gflops: null });
    expect(combineParts(parts, "batch").faults).toBeUndefined();
  });
});
