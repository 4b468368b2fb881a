import type { SeriesKey } from "../../../protocol/history/series.ts";
import type { BenchmarkResult, BenchmarkSpec } from "../../../protocol/jobs/benchmark.ts";
import type { Database } from "../../store/database.ts";
import { findProgram, isKernelId } from "../../store/kernels/kernel-store.ts";
import type { OfferContext, RunContext } from "../kind.ts";
import { pointsOf } from "./run-points.ts";

/** A failure counts against the runner, unless a user submitted the kernel. */
export function isKernelOurs({ kernel }: Pick<BenchmarkSpec, "kernel">): boolean {
  return !isKernelId(kernel);
}

/** The program of a submitted kernel. */
export async function offerProgram(db: Database, { kernel }: Pick<BenchmarkSpec, "kernel">): Promise<OfferContext> {
  const program = isKernelId(kernel) ? await findProgram(db, kernel) : null;
  return program === null ? { model: null } : { model: null, program };
}

/** Whether a result has the kernel and element type of its job. */
export function isOfKernel(
  spec: Pick<BenchmarkSpec, "kernel" | "dtype">,
  { kernel, dtype }: Pick<BenchmarkResult, "kernel" | "dtype">,
): boolean {
  return kernel === spec.kernel && (spec.dtype === undefined || dtype === spec.dtype);
}

/** Makes the points of one run of a kernel; `further` is configuration beyond shape, type and device. */
export function kernelPointsOf(
  { kernel, shape, dtype, environment }: Pick<BenchmarkResult, "kernel" | "shape" | "dtype" | "environment">,
  run: RunContext,
  further: SeriesKey["configuration"] = {},
): ReturnType<typeof pointsOf> {
  const configuration = { ...shape, dtype, device: environment.deviceName, ...further };
  return pointsOf(run, { subjectKind: "kernel", subject: kernel, configuration, environment });
}
