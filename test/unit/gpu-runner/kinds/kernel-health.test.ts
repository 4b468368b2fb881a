import { describe, expect, it } from "vitest";
import { kernelHealthOf } from "../../../../src/gpu-runner/kinds/registry.ts";
import type { JobResult } from "../../../../src/protocol/jobs/job.ts";
import { summarise } from "../../../../src/stats/distribution/distribution.ts";
import { benchmarkResult } from "../../../edge/stack/samples.ts";

const AT = "2026-11-22T03:00:00.000Z";
const NOTHING = {
  occupancyShare: null,
  bandwidthShare: null,
  arithmeticShare: null,
  submissionsPerSecond: null,
  synchronisationShare: null,
};
const roofline = {
  arithmeticIntensity: 1,
  roof: 100,
  unit: "GFLOP/s" as const,
  shareOfRoof: 0.5,
  bound: "memory" as const,
  peakGflops: 1_000,
  peakGigabytesPerSecond: 200,
  measuredAt: AT,
  note: null,
};

describe("a job's report of its device's kernels", () => {
  it("is shares of what is possible, and the time in which the GPU waited", () => {
    const occupancy = { share: 0.75 } as never;
    const gpuMs = summarise([3, 3, 3]);
    const wallMs = summarise([4, 4, 4]);
    const result = { ...benchmarkResult(), gflops: 100, gigabytesPerSecond: 150, roofline, occupancy, gpuMs, wallMs };
    expect(kernelHealthOf(result, AT)).toEqual({
      at: AT,
      kernel: result.kernel,
      occupancyShare: 0.75,
      bandwidthShare: 0.75,
      arithmeticShare: 0.1,
      submissionsPerSecond: null,
      synchronisationShare: 0.25,
    });
  });

  it("is null where neither roofs nor timestamps are known", () => {
    const result = { ...benchmarkResult(), roofline: null, occupancy: null, gpuMs: null };
    expect(kernelHealthOf(result, AT)).toEqual({ ...NOTHING, at: AT, kernel: result.kernel });
  });

  it("is nothing where several devices ran it, another one stood in, or no kernel ran", () => {
    const parts = [{ deviceKey: "gpu0", batch: 1, p50Ms: 1, gigabytesPerSecond: 1 }];
    expect(kernelHealthOf({ ...benchmarkResult(), parts }, AT)).toBeNull();
    expect(kernelHealthOf({ ...benchmarkResult(), fallback: "cpu-reference" }, AT)).toBeNull();
    expect(kernelHealthOf({ kind: "calibration" } as JobResult, AT)).toBeNull();
  });

  it("of a throughput job is its rate, and how idle the GPU was by its own clock", () => {
    const measured = { kind: "throughput", kernel: "triad", busyShare: 0.9, submissionsPerSecond: 250 };
    const told = { ...NOTHING, at: AT, kernel: "triad", submissionsPerSecond: 250 };
    const byGpu = kernelHealthOf({ ...measured, clock: "gpu-timestamp" } as JobResult, AT);
    expect(byGpu).toEqual({ ...told, synchronisationShare: expect.closeTo(0.1) });
    expect(kernelHealthOf({ ...measured, clock: "runner-wall" } as JobResult, AT)).toEqual(told);
  });
});
