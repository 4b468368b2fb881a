import type { AxisValues } from "../../../kernels/kernel-spec.ts";
import type { BenchmarkResult, BenchmarkSpec } from "../../protocol/jobs/benchmark.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { type BenchmarkDevice, type BenchmarkOptions, checkRun } from "./benchmark/benchmark-kernel.ts";
import { createReporter } from "../devices/progress.ts";
import { type PreparedKernel, prepareKernel } from "./dispatch/dispatch.ts";
import { napFor, RunForecast } from "../devices/gpu/wait-for-gpu.ts";
import { resolveBenchmark } from "./dispatch/resolve-benchmark.ts";

/** Kernel and its inputs. */
export type KernelRequest = Pick<BenchmarkSpec, "kernel" | "shape" | "dtype" | "variant" | "seed">;

export interface OpenedKernel {
  readonly variant: string;
  readonly correctness: BenchmarkResult["correctness"];
  /** Bytes of its buffers. */
  readonly bufferBytes: number;
  /** Time until the inputs are uploaded and the pipelines compiled, and from then to the first answer. */
  readonly loadMs: number;
  readonly firstAnswerMs: number;
}

interface Kept {
  readonly prepared: PreparedKernel;
  readonly forecast: RunForecast;
}

/** Kernels that are kept ready to run, by name. They end with the process. */
export class OpenKernels {
  readonly #kept = new Map<string, Kept>();

  /**
   * Compiles a kernel, uploads its inputs and checks one run; replaces a kernel of this name. Fails like
   * `benchmarkKernel`.
   */
  async open(
    target: BenchmarkDevice,
    key: string,
    request: KernelRequest,
    axes: AxisValues,
    { onProgress, signal }: Pick<BenchmarkOptions, "onProgress" | "signal">,
  ): Promise<OpenedKernel> {
    this.close(key);
    const choice = resolveBenchmark(target.kernels, request, axes);
    const report = createReporter(onProgress, signal);
    report("compile")(0, 1);
    const inputs = choice.kernel.generate(choice.shape, request.seed);
    const bytesBefore = target.pool.counters.liveBytes;
    const startedMs = performance.now();
    const prepared = await prepareKernel(target, choice, inputs);
    try {
      await target.device.queue.onSubmittedWorkDone();
      const loadedMs = performance.now();
      const bufferBytes = target.pool.counters.liveBytes - bytesBefore;
      const kept = { prepared, forecast: new RunForecast() };
      await submit(target, kept, 1);
      const answeredMs = performance.now();
      const submitRun = () => target.device.queue.submit([prepared.encode()]);
      const correctness = await checkRun(target, choice, prepared, inputs, request.seed, report("check"), submitRun);
      this.#kept.set(key, kept);
      const times = { loadMs: loadedMs - startedMs, firstAnswerMs: answeredMs - loadedMs };
      return { variant: choice.variant.name, correctness, bufferBytes, ...times };
    } catch (error) {
      prepared.release();
      throw error;
    }
  }

  /**
   * Runs an open kernel this many times in one submission, and waits for its end. Fails with `device-lost` where it is
   * no longer open.
   */
  async run(target: BenchmarkDevice, key: string, dispatches: number): Promise<void> {
    const kept = this.#kept.get(key);
    if (kept === undefined) throw new ProblemError("device-lost", "The process in which the kernel was open has ended");
    await submit(target, kept, dispatches);
  }

  /** Releases its buffers; an unknown name is no error. */
  close(key: string): void {
    this.#kept.get(key)?.prepared.release();
    this.#kept.delete(key);
  }
}

async function submit({ device, gpu }: BenchmarkDevice, { prepared, forecast }: Kept, dispatches: number) {
  const startedMs = performance.now();
  const encoder = device.createCommandEncoder();
  for (let dispatch = 0; dispatch < dispatches; dispatch++) prepared.encodeInto(encoder);
  device.queue.submit([encoder.finish()]);
  await napFor(forecast.expectMs(dispatches));
  await device.queue.onSubmittedWorkDone();
  forecast.note(dispatches, performance.now() - startedMs);
  gpu.throwUncaptured();
}
