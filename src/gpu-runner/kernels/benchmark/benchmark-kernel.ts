import { randomInt } from "node:crypto";
import type { AxisValues, KernelArrays, KernelSpec } from "../../../../kernels/kernel-spec.ts";
import type { Device } from "../../../protocol/fleet/hardware.ts";
import type { BenchmarkCounters, BenchmarkResult, BenchmarkSpec } from "../../../protocol/jobs/benchmark.ts";
import type { JobProgress } from "../../../protocol/jobs/job.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { summarise } from "../../../stats/distribution/distribution.ts";
import type { Gpu } from "../../devices/gpu/device.ts";
import { withErrorScopes } from "../../devices/gpu/error-scopes.ts";
import { recordSpan, type RunTimes, SpanRecorder } from "../../devices/gpu/span-recorder.ts";
import { GpuTimer } from "../../devices/gpu/timer.ts";
import { createReporter } from "../../devices/progress.ts";
import { type KernelContext, prepareKernel, type RunnableKernel } from "../dispatch/dispatch.ts";
import { type KernelChoice, resolveBenchmark } from "../dispatch/resolve-benchmark.ts";
import { buildTrace } from "./build-trace.ts";
import { checkOutputs } from "./check-output.ts";
import { chooseClock, measureKernel, type Samples } from "./measure-kernel.ts";
import { occupyKernel } from "./predict-occupancy.ts";
import { raiseClocks } from "./raise-clocks.ts";

/** Compares the outputs of the run that `run` submits, or else of the last one. */
export async function checkRun(
  target: BenchmarkDevice,
  { kernel, shape }: KernelChoice,
  prepared: RunnableKernel,
  inputs: KernelArrays,
  seed: number,
  report: (done: number, total: number) => void,
  run?: () => void,
): Promise<BenchmarkResult["correctness"]> {
  report(0, 1);
  const reference = kernel.reference(inputs, shape);
  const references = [reference, ...(reference.others ?? [])];
  const { device, recorder } = target;
  const outputs = await withErrorScopes(device, async () => {
    run?.();
    // Without this wait, the readback span would include the run.
    if (recorder !== undefined) await recordSpan(recorder, "compute", () => device.queue.onSubmittedWorkDone());
    return recordSpan(recorder, "readback", () => Promise.all(references.map(({ output }) => prepared.read(output))));
  });
  target.gpu.throwUncaptured();
  return checkOutputs(outputs, references, kernel.tolerance, shape, seed, report);
}

/** Counters of a device since it was opened. */
function readCounters({ traffic, pool, pipelines }: KernelContext): BenchmarkCounters {
  return {
    dispatches: traffic?.dispatches ?? 0,
    uploadedBytes: traffic?.uploadedBytes ?? 0,
    readBackBytes: traffic?.readBackBytes ?? 0,
    buffersCreated: pool.counters.created,
    buffersReused: pool.counters.reused,
    liveBytes: pool.counters.liveBytes,
    pipelineHits: pipelines.counters.hits,
    pipelineMisses: pipelines.counters.misses,
    compileMs: pipelines.counters.compileMs,
  };
}

/** Difference of two readings; bytes in use are those of the later one. */
function subtractCounters(later: BenchmarkCounters, earlier: BenchmarkCounters): BenchmarkCounters {
  const names = Object.keys(later) as (keyof BenchmarkCounters)[];
  const differences = Object.fromEntries(names.map((name) => [name, later[name] - earlier[name]]));
  return { ...(differences as BenchmarkCounters), liveBytes: later.liveBytes };
}

/**
 * Benchmark result without the fields that only the runner around the device knows, its trace as JSON, and the samples
 * of its distributions.
 */
export interface BenchmarkMeasurement extends Omit<BenchmarkResult, "kind" | "environment" | "roofline" | "tuned"> {
  readonly traceText: string | null;
  readonly samples: Samples;
}

export interface BenchmarkOptions {
  /** Values for tuning axes; absent ones use their default. */
  readonly axes?: AxisValues;
  /**
   * Clears outputs and scratch before every run and checks the outputs again after the last, so that a program cannot
   * reuse an earlier answer. Each check draws a new sample of outputs, so that a program cannot predict which ones are
   * checked.
   */
  readonly distrusts?: boolean;
  readonly onProgress: (progress: JobProgress) => void;
  /** Checked between runs. */
  readonly signal: AbortSignal;
}

/** Open GPU with its description, the kernels that it offers, and their shared resources. */
export interface BenchmarkDevice extends KernelContext {
  readonly gpu: Gpu;
  readonly kernels: ReadonlyMap<string, KernelSpec>;
  readonly description: Pick<Device, "key" | "name" | "software" | "timestampQuantised" | "fingerprint">;
}

/** Limit of a benchmark from which it has time for a GPU's clocks to be raised. */
const LEAST_TIMEOUT_MS = 10_000;

/**
 * Compiles a kernel, checks one run against the f64 reference, warms up and then times run by run.
 * Fails with `unknown-kernel`, `invalid-request`, `kernel-invalid`, `kernel-incorrect` (nothing is
 * timed then), `backend-failed` or `cancelled`.
 */
export async function benchmarkKernel(
  device: BenchmarkDevice,
  spec: BenchmarkSpec,
  { axes = {}, distrusts = false, onProgress, signal }: BenchmarkOptions,
): Promise<BenchmarkMeasurement> {
  const choice = resolveBenchmark(device.kernels, spec, axes);
  const recorder = spec.trace ? new SpanRecorder() : undefined;
  const target = { ...device, ...(recorder && { recorder }) };
  const report = createReporter(onProgress, signal);
  report("compile")(0, 1);
  const inputs = choice.kernel.generate(choice.shape, spec.seed);
  const countedBefore = readCounters(target);
  const prepared = await prepareKernel(target, choice, inputs);
  const timer = target.device.features.has("timestamp-query") ? new GpuTimer(target.device, target.pool) : null;
  const before = (phase: string) => {
    const reportStep = report(phase);
    return async (done: number, total: number) => {
      reportStep(done, total);
      if (distrusts) await prepared.wipe();
    };
  };
  const sampleSeed = () => (distrusts ? randomInt(2 ** 32) : spec.seed);
  const run = () => target.device.queue.submit([prepared.encode()]);
  try {
    const correctness = await recordPhase(target, "check", () =>
      checkRun(target, choice, prepared, inputs, sampleSeed(), report("check"), run),
    );
    const measure = (phase: string, runs: number) => {
      const onRun = recorder && ((index: number, times: RunTimes) => recorder.addRun(index, times));
      return recordPhase(target, phase, () =>
        measureKernel(target.device, prepared, timer, runs, before(phase), onRun === undefined ? {} : { onRun }),
      );
    };
    const samples = await withErrorScopes(target.device, async () => {
      if (spec.timeoutMs >= LEAST_TIMEOUT_MS) await raiseClocks(target.device, signal);
      await measure("warmup", spec.warmup);
      return measure("measure", spec.iterations);
    });
    target.gpu.throwUncaptured();
    const counters = subtractCounters(readCounters(target), countedBefore);
    if (distrusts) {
      await recordPhase(target, "recheck", () =>
        checkRun(target, choice, prepared, inputs, sampleSeed(), report("recheck")),
      );
    }
    const dtype = spec.dtype ?? choice.kernel.dtypes[0];
    const occupancy = await occupyKernel(target.description, choice);
    const result = {
      ...describe(target, choice, samples),
      dtype,
      warmup: spec.warmup,
      correctness,
      counters,
      occupancy,
      samples,
    };
    return { ...result, ...summariseTrace(target.description, recorder) };
  } finally {
    timer?.destroy();
    prepared.release();
  }
}

/** Records a phase as one span, with the counters before and after it. */
async function recordPhase<Result>(
  target: BenchmarkDevice,
  phase: string,
  work: () => Promise<Result>,
): Promise<Result> {
  target.recorder?.sample(readCounters(target));
  const result = await recordSpan(target.recorder, phase, work);
  target.recorder?.sample(readCounters(target));
  return result;
}

function summariseTrace(
  { key, name }: BenchmarkDevice["description"],
  recorder: SpanRecorder | undefined,
): Pick<BenchmarkMeasurement, "trace" | "traceText"> {
  if (recorder === undefined) return { trace: null, traceText: null };
  const { text, summary } = buildTrace(recorder, `${key}: ${name}`, LIMITS.traceBytes);
  return { trace: summary, traceText: text };
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
