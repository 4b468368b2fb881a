import type { AxisValues, KernelArrays, KernelSpec } from "../../../kernels/kernel-spec.ts";
import type { Clock } from "../../protocol/distribution.ts";
import type { Device } from "../../protocol/hardware.ts";
import type { BenchmarkResult, BenchmarkSpec } from "../../protocol/benchmark.ts";
import type { JobProgress } from "../../protocol/job.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { summarise } from "../../stats/distribution.ts";
import { checkOutputs } from "./check-output.ts";
import type { Gpu } from "./device.ts";
import { type KernelContext, type PreparedKernel, prepareKernel } from "./dispatch.ts";
import { withErrorScopes } from "./error-scopes.ts";
import { measureKernel, type Samples } from "./measure-kernel.ts";
import { type KernelChoice, resolveBenchmark } from "./resolve-benchmark.ts";
import { GpuTimer } from "./timer.ts";

/** A benchmark's result, less what only the runner around the device knows. */
export type BenchmarkMeasurement = Omit<BenchmarkResult, "kind" | "environment" | "tuned">;

export interface BenchmarkOptions {
  /** Values for tuning axes; what is absent takes its default. */
  readonly axes?: AxisValues;
  /**
   * Wipes outputs and scratch before every run and checks the outputs again after the last: a program
   * that would rather remember its answer than find it remembers nothing.
   */
  readonly distrusts?: boolean;
  readonly onProgress: (progress: JobProgress) => void;
  /** Looked at between runs. */
  readonly signal: AbortSignal;
}

/** An open GPU, how it was described, the kernels that it offers, and what they share. */
export interface BenchmarkDevice extends KernelContext {
  readonly gpu: Gpu;
  readonly kernels: ReadonlyMap<string, KernelSpec>;
  readonly description: Pick<Device, "software" | "timestampQuantised">;
}

const PROGRESS_INTERVAL_MS = 200;

/**
 * Compiles a kernel, checks one run against the f64 reference, warms up and then times run by run.
 * Fails with `unknown-kernel`, `invalid-request`, `kernel-invalid`, `kernel-incorrect` (nothing is
 * timed then), `backend-failed` or `cancelled`.
 */
export async function benchmarkKernel(
  target: BenchmarkDevice,
  spec: BenchmarkSpec,
  { axes = {}, distrusts = false, onProgress, signal }: BenchmarkOptions,
): Promise<BenchmarkMeasurement> {
  const choice = resolveBenchmark(target.kernels, spec, axes);
  const report = createReporter(onProgress, signal);
  report("compile")(0, 1);
  const inputs = choice.kernel.generate(choice.shape, spec.seed);
  const prepared = await prepareKernel(target, choice, inputs);
  const timer = target.device.features.has("timestamp-query") ? new GpuTimer(target.device, target.pool) : null;
  const before = (phase: string) => {
    const tell = report(phase);
    return async (done: number, total: number) => {
      tell(done, total);
      if (distrusts) await prepared.wipe();
    };
  };
  const run = () => target.device.queue.submit([prepared.encode()]);
  try {
    const correctness = await check(target, choice, prepared, inputs, spec.seed, report("check"), run);
    const samples = await withErrorScopes(target.device, async () => {
      await measureKernel(target.device, prepared, timer, spec.warmup, before("warmup"));
      return measureKernel(target.device, prepared, timer, spec.iterations, before("measure"));
    });
    target.gpu.throwUncaptured();
    if (distrusts) await check(target, choice, prepared, inputs, spec.seed, report("recheck"));
    return { ...describe(target, choice, samples), dtype: spec.dtype, warmup: spec.warmup, correctness };
  } finally {
    timer?.destroy();
    prepared.release();
  }
}

/** Progress of a phase, told when it begins and then a few times a second; throws once the signal is aborted. */
function createReporter(onProgress: BenchmarkOptions["onProgress"], signal: AbortSignal) {
  return (phase: string) => {
    let nextAt = 0;
    return (done: number, total: number) => {
      if (signal.aborted) throw new ProblemError("cancelled", "The benchmark was cancelled");
      if (performance.now() < nextAt) return;
      nextAt = performance.now() + PROGRESS_INTERVAL_MS;
      onProgress({ phase, done, total });
    };
  };
}

/** Compares the outputs of the run that `run` submits, or else of the last one. */
async function check(
  target: BenchmarkDevice,
  { kernel, shape }: KernelChoice,
  prepared: PreparedKernel,
  inputs: KernelArrays,
  seed: number,
  report: (done: number, total: number) => void,
  run?: () => void,
): Promise<BenchmarkResult["correctness"]> {
  report(0, 1);
  const reference = kernel.reference(inputs, shape);
  const references = [reference, ...(reference.others ?? [])];
  const outputs = await withErrorScopes(target.device, () => {
    run?.();
    return Promise.all(references.map(({ output }) => prepared.read(output)));
  });
  target.gpu.throwUncaptured();
  return checkOutputs(outputs, references, kernel.tolerance, shape, seed, report);
}

function describe(target: BenchmarkDevice, { kernel, variant, shape, axes }: KernelChoice, samples: Samples) {
  const wallMs = summarise(samples.wallMs);
  const gpuMs = samples.gpuMs === null ? null : summarise(samples.gpuMs);
  const clock = chooseClock(target.description, gpuMs?.p50 ?? null);
  const seconds = (clock === "gpu-timestamp" && gpuMs !== null ? gpuMs.p50 : wallMs.p50) / 1e3;
  const flops = kernel.flops(shape);
  return {
    kernel: kernel.name,
    variant: variant.name,
    axes: { ...axes },
    defaultAxes: variant.axes.every((axis) => axes[axis.name] === axis.default),
    shape: { ...shape },
    gpuMs,
    wallMs,
    clock,
    gflops: flops === 0 ? null : flops / seconds / 1e9,
    gigabytesPerSecond: kernel.bytes(shape) / seconds / 1e9,
  };
}

/** Timestamps of a software device are erratic below this. */
const SHORTEST_TRUSTED_MS = 0.1;

/** The clock that throughput is computed from: the GPU's, where its timestamps can be trusted. */
export function chooseClock(
  { software, timestampQuantised }: BenchmarkDevice["description"],
  gpuMs: number | null,
): Clock {
  const trusted = gpuMs !== null && gpuMs > (software ? SHORTEST_TRUSTED_MS : 0) && timestampQuantised === false;
  return trusted ? "gpu-timestamp" : "runner-wall";
}
