import { loadavg } from "node:os";
import type { KernelPeak } from "../../../../kernels/kernel-spec.ts";
import { KERNELS } from "../../../../kernels/registry.ts";
import type { JobProgress } from "../../../protocol/jobs/job.ts";
import { type ProblemCode, ProblemError } from "../../../protocol/wire/problem.ts";
import type { Peak, Roofline } from "../../../protocol/fleet/roofline.ts";
import type { BenchmarkDevice } from "../benchmark/benchmark-kernel.ts";
import { findPeak, type PeakSearch } from "./find-peak.ts";
import { raiseClocks } from "../benchmark/raise-clocks.ts";

export interface RooflineOptions {
  /** Time limit of all searches. Once it is used up, each remaining peak is measured with least effort. */
  readonly budgetMs: number;
  readonly onProgress: (progress: JobProgress) => void;
  /** Checked between runs. */
  readonly signal: AbortSignal;
}

/** A run of this length makes its launch cost negligible. */
const LONG_RUN_MS = 20;

/** Name of a peak in a roofline. */
export type PeakName = KernelPeak["name"];

/** Shares of the budget, in the order of measuring: the most important peak first. */
const SHARES: Readonly<Record<PeakName, number>> = { float32: 2, triad: 2, int8: 1, copy: 1, read: 1, float16: 1 };

/** Kernel of a peak, at the sizes and settings of its spec. */
function searchFor(name: PeakName): PeakSearch {
  for (const kernel of KERNELS.values()) {
    const { peak } = kernel;
    if (peak?.name !== name) continue;
    return {
      kernel,
      shapes: peak.shapes,
      axes: peak.axes,
      longEnoughMs: peak.counts === "flops" ? LONG_RUN_MS : Number.POSITIVE_INFINITY,
      work: (shape) => kernel[peak.counts](shape) / 1e9,
    };
  }
  throw new TypeError(`no kernel measures the peak '${name}'`);
}

/** Errors that exclude one peak and not the others. */
const UNFIT: ReadonlySet<ProblemCode> = new Set(["kernel-invalid", "kernel-incorrect", "out-of-memory"]);

/**
 * Measures a device's roofs with our own kernels, which are checked first. Each peak has its share of the budget to
 * find the best setting at the largest size. A peak that cannot be measured is null with a reason. Fails with
 * `cancelled`, or with `backend-failed` where the device does.
 */
export async function measureRoofline(target: BenchmarkDevice, options: RooflineOptions): Promise<Roofline> {
  await raiseClocks(target.device, options.signal);
  const startedAt = performance.now();
  const loadAverage = loadavg()[0] ?? 0;
  // Large buffers are released at once instead of kept for reuse, which leaves their budget to buffers in use.
  const context = { ...target, pool: target.pool.splitOff(0) };
  const peaks: Partial<Record<PeakName, Peak>> = {};
  const missing: Record<string, string> = {};
  const shares = Object.entries(SHARES) as [PeakName, number][];
  const allShares = shares.reduce((sum, [, share]) => sum + share, 0);
  let deadlineMs = startedAt;
  for (const [index, [name, share]] of shares.entries()) {
    options.onProgress({ phase: "roofline", done: index, total: shares.length });
    deadlineMs += (options.budgetMs * share) / allShares;
    try {
      peaks[name] = await findPeak(context, searchFor(name), deadlineMs, options.signal);
    } catch (error) {
      if (!(error instanceof ProblemError) || !UNFIT.has(error.problem.code)) throw error;
      missing[name] = error.problem.detail;
    }
  }
  target.gpu.throwUncaptured();
  return {
    measuredAt: new Date().toISOString(),
    tookMs: performance.now() - startedAt,
    loadAverage,
    gflops: { float32: peaks.float32 ?? null, float16: peaks.float16 ?? null, int8: peaks.int8 ?? null },
    gigabytesPerSecond: { triad: peaks.triad ?? null, copy: peaks.copy ?? null, read: peaks.read ?? null },
    missing,
  };
}

/** Measures one of these peaks again, like `measureRoofline`; also fails where the device cannot measure it. */
export async function remeasurePeak(
  target: BenchmarkDevice,
  wanted: PeakName,
  budgetMs: number,
  signal: AbortSignal,
): Promise<Peak> {
  await raiseClocks(target.device, signal);
  return findPeak(target, searchFor(wanted), performance.now() + budgetMs, signal);
}
