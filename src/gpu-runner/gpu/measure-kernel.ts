import type { RunnableKernel } from "./dispatch.ts";
import { napFor } from "./nap.ts";
import { RunForecast } from "./run-forecast.ts";
import type { RunTimes } from "./span-recorder.ts";
import type { GpuTimer } from "./timer.ts";

/** Durations of single runs in milliseconds, in order. */
export interface Samples {
  /** Null on a device without timestamps. */
  readonly gpuMs: Float64Array | null;
  /** From submission to completion, on the monotonic clock. */
  readonly wallMs: Float64Array;
}

interface MeasureOptions {
  /** What earlier runs of the kernel took; it learns of these. */
  readonly forecast?: RunForecast;
  /** Told of the steps of each run. */
  readonly onRun?: (run: number, times: RunTimes) => void;
}

/** Runs a kernel again and again, one run at a time. */
export async function measureKernel(
  device: GPUDevice,
  kernel: RunnableKernel,
  timer: GpuTimer | null,
  runs: number,
  beforeRun: (done: number, total: number) => void | Promise<void>,
  { forecast = new RunForecast(), onRun }: MeasureOptions = {},
): Promise<Samples> {
  const gpuMs = timer === null ? null : new Float64Array(runs);
  const wallMs = new Float64Array(runs);
  for (let run = 0; run < runs; run++) {
    await beforeRun(run, runs);
    const startMs = performance.now();
    const commands = kernel.encode(timer?.timestampWrites);
    const startedAt = performance.now();
    device.queue.submit([commands]);
    const submittedMs = performance.now();
    // From the GPU's clock, where there is one: on the wall's, a nap that was too long hides in the next expectation.
    await napFor(forecast.expectMs(1));
    await device.queue.onSubmittedWorkDone();
    const doneMs = performance.now();
    const tookMs = doneMs - startedAt;
    wallMs[run] = tookMs;
    const ticks = timer === null ? null : await timer.readTicks();
    if (ticks !== null && gpuMs !== null) gpuMs[run] = Number(ticks.endNs - ticks.beginNs) / 1e6;
    onRun?.(run, { startMs, submittedMs, doneMs, readMs: performance.now(), ticks });
    forecast.note(1, Math.min(tookMs, gpuMs?.[run] ?? tookMs));
  }
  return { gpuMs, wallMs };
}
