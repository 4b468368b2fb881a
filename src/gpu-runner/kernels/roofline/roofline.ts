import { loadavg } from "node:os";
import { copy } from "../../../../kernels/copy/copy.kernel.ts";
import { dot4Peak } from "../../../../kernels/dot4-peak/dot4-peak.kernel.ts";
import { fmaPeakF16 } from "../../../../kernels/fma-peak-f16/fma-peak-f16.kernel.ts";
import { fmaPeak } from "../../../../kernels/fma-peak/fma-peak.kernel.ts";
import type { KernelSpec } from "../../../../kernels/kernel-spec.ts";
import { reduce } from "../../../../kernels/reduce/reduce.kernel.ts";
import { triad } from "../../../../kernels/triad/triad.kernel.ts";
import type { JobProgress } from "../../../protocol/jobs/job.ts";
import { type ProblemCode, ProblemError } from "../../../protocol/wire/problem.ts";
import type { Peak, Roofline } from "../../../protocol/fleet/roofline.ts";
import type { BenchmarkDevice } from "../benchmark/benchmark-kernel.ts";
import { findPeak, type PeakSearch } from "./find-peak.ts";

export interface RooflineOptions {
  /** Time limit of all searches. Once it is used up, each remaining peak is measured with least effort. */
  readonly budgetMs: number;
  readonly onProgress: (progress: JobProgress) => void;
  /** Checked between runs. */
  readonly signal: AbortSignal;
}

/** A run of this length makes its launch cost negligible. */
const LONG_RUN_MS = 20;

const lanes = [{ lanes: 64 }, { lanes: 256 }] as const;
const lengths = [{ n: 2 ** 18 }, { n: 2 ** 20 }, { n: 2 ** 22 }, { n: 2 ** 24 }, { n: 2 ** 25 }] as const;
const chains = [
  { n: 2 ** 12, rounds: 16 },
  { n: 2 ** 14, rounds: 32 },
  { n: 2 ** 16, rounds: 64 },
  { n: 2 ** 18, rounds: 128 },
  { n: 2 ** 20, rounds: 256 },
  { n: 2 ** 22, rounds: 512 },
] as const;

const arithmetic = (kernel: KernelSpec): PeakSearch => ({
  kernel,
  shapes: chains,
  axes: lanes,
  longEnoughMs: LONG_RUN_MS,
  work: (shape) => kernel.flops(shape) / 1e9,
});
/** The last size uses 128 MiB per array: far beyond the caches of all but the largest processors. */
const traffic = (kernel: KernelSpec, axes: PeakSearch["axes"] = lanes): PeakSearch => ({
  kernel,
  shapes: lengths,
  axes,
  longEnoughMs: Number.POSITIVE_INFINITY,
  work: (shape) => kernel.bytes(shape) / 1e9,
});

/** Name of a peak in a roofline. */
export type PeakName = keyof Roofline["gflops"] | keyof Roofline["gigabytesPerSecond"];

/** Peaks in order of importance, and the share of the budget of each. */
const SEARCHES: readonly (readonly [name: PeakName, shares: number, search: PeakSearch])[] = [
  ["float32", 2, arithmetic(fmaPeak)],
  ["triad", 2, traffic(triad)],
  ["int8", 1, arithmetic(dot4Peak)],
  ["copy", 1, traffic(copy)],
  [
    "read",
    1,
    traffic(reduce, [
      { lanes: 64, groups: 64 },
      { lanes: 256, groups: 1024 },
    ]),
  ],
  ["float16", 1, arithmetic(fmaPeakF16)],
];

/** Errors that exclude one peak and not the others. */
const UNFIT: ReadonlySet<ProblemCode> = new Set(["kernel-invalid", "kernel-incorrect", "out-of-memory"]);

/**
 * Measures a device's roofs with our own kernels, which are checked first. Each peak has its share of the budget to
 * find the best setting at the largest size. A peak that cannot be measured is null with a reason. Fails with
 * `cancelled`, or with `backend-failed` where the device does.
 */
export async function measureRoofline(target: BenchmarkDevice, options: RooflineOptions): Promise<Roofline> {
  const startedAt = performance.now();
  const loadAverage = loadavg()[0] ?? 0;
  // Large buffers are released at once instead of kept for reuse, which leaves their budget to buffers in use.
  const context = { ...target, pool: target.pool.splitOff(0) };
  const peaks: Partial<Record<PeakName, Peak>> = {};
  const missing: Record<string, string> = {};
  const allShares = SEARCHES.reduce((sum, [, shares]) => sum + shares, 0);
  let deadlineMs = startedAt;
  for (const [index, [name, shares, search]] of SEARCHES.entries()) {
    options.onProgress({ phase: "roofline", done: index, total: SEARCHES.length });
    deadlineMs += (options.budgetMs * shares) / allShares;
    try {
      peaks[name] = await findPeak(context, search, deadlineMs, options.signal);
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
  const [, , search] = SEARCHES.find(([name]) => name === wanted)!;
  return findPeak(target, search, performance.now() + budgetMs, signal);
}
