import type { KernelHealth } from "../../protocol/fleet/health.ts";
import type { JobResult } from "../../protocol/jobs/job.ts";

/**
 * Health of a device's kernels in a job's result. Null where it shows none: another kind of job, several devices at
 * once, or a run on the CPU instead of a failed device.
 */
export function kernelHealthOf(result: JobResult, at: string): KernelHealth | null {
  if (result.kind === "throughput") {
    const { kernel, busyShare, clock, submissionsPerSecond } = result;
    const isMeasured = clock === "gpu-timestamp";
    const synchronisationShare = isMeasured ? Math.max(0, 1 - busyShare) : null;
    return { ...UNKNOWN, at, kernel, submissionsPerSecond, synchronisationShare };
  }
  if (result.kind !== "benchmark" || result.fallback !== undefined || result.parts !== undefined) return null;
  const { kernel, occupancy, roofline, gflops, gigabytesPerSecond, gpuMs, wallMs } = result;
  return {
    ...UNKNOWN,
    at,
    kernel,
    occupancyShare: occupancy?.share ?? null,
    bandwidthShare: shareOf(gigabytesPerSecond, roofline?.peakGigabytesPerSecond),
    arithmeticShare: shareOf(gflops, roofline?.peakGflops),
    synchronisationShare: gpuMs === null ? null : Math.max(0, 1 - gpuMs.p50 / wallMs.p50),
  };
}

const UNKNOWN = {
  occupancyShare: null,
  bandwidthShare: null,
  arithmeticShare: null,
  submissionsPerSecond: null,
  synchronisationShare: null,
};

function shareOf(value: number | null, peak: number | null | undefined): number | null {
  return value === null || peak === null || peak === undefined ? null : value / peak;
}
