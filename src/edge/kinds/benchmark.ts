import { toShapeText } from "../../protocol/kernels/leaderboard.ts";
import type { BenchmarkResult, BenchmarkSpec } from "../../protocol/jobs/benchmark.ts";
import type { Problem, ProblemCode } from "../../protocol/wire/problem.ts";
import type { ProjectEnv } from "../config.ts";
import { openProject } from "../store/database.ts";
import { appendMeasurements, type Measurement } from "../store/history/point-store.ts";
import { findKernel, isKernelId, markKernelInvalid, markKernelValid } from "../store/kernels/kernel-store.ts";
import { recordStandings } from "../store/kernels/standing-store.ts";
import type { InputOf, JobKindModule, JobSurroundings, Prepared, RunContext, StoredRun } from "./kind.ts";
import { checkBenchmark, checkSubmitted } from "./subjects/check-benchmark.ts";
import { checkDevice, isFrom } from "./subjects/kernel-devices.ts";
import { isKernelOurs, isOfKernel, kernelPointsOf, offerProgram } from "./subjects/kernel-jobs.ts";

export const benchmark: JobKindModule<BenchmarkSpec> = {
  prepare,
  target: (spec) => spec,
  judgesRunner: isKernelOurs,
  offer: offerProgram,
  isTraced: ({ trace }) => trace,
  answers: (spec, result) => {
    if (!isOfKernel(spec, result)) return false;
    return result.fallback === undefined ? isFrom(result, spec.deviceKey) : spec.onDeviceFailure === result.fallback;
  },
  distributions: ({ wallMs, gpuMs }) => (gpuMs === null ? [wallMs] : [wallMs, gpuMs]),
  store,
  noteFailure,
};

/** Checks the kernel, which runners announce or a user submitted, and the device. */
async function prepare(
  input: InputOf<BenchmarkSpec>,
  { db, candidates, announced }: JobSurroundings,
): Promise<Prepared<BenchmarkSpec>> {
  const submitted = isKernelId(input.kernel) ? await findKernel(db, input.kernel) : null;
  const spec = submitted === null ? input : { ...input, reference: submitted.reference };
  const errors = submitted === null ? checkBenchmark(input, announced) : checkSubmitted(input, submitted, announced);
  const capabilities = candidates.map((candidate) => candidate.capabilities);
  return { spec, errors: [...errors, ...checkDevice(spec, capabilities)] };
}

/** Stores a benchmark in the history and in the standings of its kernel. */
async function store(env: ProjectEnv, { spec, result }: StoredRun<BenchmarkSpec>, run: RunContext): Promise<void> {
  const db = openProject(env);
  await appendMeasurements(env.DB, measureBenchmark(result, run));
  // A fallback reference or a run over several devices does not compete with kernels on one device.
  const competes = result.fallback === undefined && result.parts === undefined;
  if (competes) await recordStandings(db, result, { ...run, reference: spec.reference ?? result.kernel });
  if (isKernelId(result.kernel)) await markKernelValid(db, result.kernel);
}

/**
 * A benchmark's points in the history: its durations by clock, and its rates. A run over several devices is a series of
 * its own; a fallback reference gives no points.
 */
function measureBenchmark(result: BenchmarkResult, run: RunContext): Measurement[] {
  if (result.fallback !== undefined) return [];
  const point = kernelPointsOf(result, run, {
    variant: result.variant,
    // Absent for a variant with its default axes, so that its series continues.
    ...(result.defaultAxes ? {} : { axes: toShapeText(result.axes) }),
    ...(result.tuned ? { tuned: "true" } : {}),
    ...(result.parts === undefined ? {} : { devices: result.parts.length }),
  });
  const { clock, gflops, gpuMs } = result;
  const share = result.roofline?.shareOfRoof;
  return [
    point("wallMs", "ms", "lower", result.wallMs, "runner-wall"),
    ...(gpuMs === null ? [] : [point("gpuMs", "ms", "lower", gpuMs, "gpu-timestamp")]),
    ...(gflops === null ? [] : [point("gflops", "GFLOP/s", "higher", gflops, clock)]),
    point("gigabytesPerSecond", "GB/s", "higher", result.gigabytesPerSecond, clock),
    ...(typeof share === "number" ? [point("shareOfRoof", "share", "higher", share, clock)] : []),
  ];
}

/** Failures that are the kernel's fault; a quarantine is not among them, since it is temporary. */
const BLAMES_KERNEL: ReadonlySet<ProblemCode> = new Set(["kernel-invalid", "kernel-incorrect", "kernel-timeout"]);

/** Records a failure in the submitted kernel's own record for its owner, if the kernel is to blame. */
async function noteFailure(env: ProjectEnv, { kernel }: BenchmarkSpec, problem: Problem): Promise<void> {
  if (!isKernelId(kernel) || !BLAMES_KERNEL.has(problem.code)) return;
  await markKernelInvalid(openProject(env), kernel, problem);
}
