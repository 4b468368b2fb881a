import type { RunnableKernel } from "./dispatch.ts";
import { napFor } from "./nap.ts";
import type { RunTimes } from "./span-recorder.ts";
import type { GpuTimer } from "./timer.ts";

/** Durations of single runs in milliseconds, in order. */
export interface Samples {
  /** Null on a device without timestamps. */
  readonly gpuMs: Float64Array | null;
  /** From submission to completion, on the monotonic clock. */
  readonly wallMs: Float64Array;
}

/** What is known of a kernel's runs before, and who is told of them. */
interface MeasureOptions {
  /** The shortest run that is known of it. */
  readonly shortestMs?: number;
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
  { shortestMs = 0, onRun }: MeasureOptions = {},
): Promise<Samples> {
  const gpuMs = timer === null ? null : new Float64Array(runs);
  const wallMs = new Float64Array(runs);
  let knownMs = shortestMs;
  for (let run = 0; run < runs; run++) {
    await beforeRun(run, runs);
    const startMs = performance.now();
    const commands = kernel.encode(timer?.timestampWrites);
    const startedAt = performance.now();
    device.queue.submit([commands]);
    const submittedMs = performance.now();
    // From the GPU's clock, where there is one: on the wall's, a nap that was too long hides in the next expectation.
    await napFor(knownMs);
    await device.queue.onSubmittedWorkDone();
    const doneMs = performance.now();
    const tookMs = doneMs - startedAt;
    wallMs[run] = tookMs;
    const ticks = timer === null ? null : await timer.readTicks();
    if (ticks !== null && gpuMs !== null) gpuMs[run] = Number(ticks.endNs - ticks.beginNs) / 1e6;
    onRun?.(run, { startMs, submittedMs, doneMs, readMs: performance.now(), ticks });
    const durationMs = Math.min(tookMs, gpuMs?.[run] ?? tookMs);
    knownMs = knownMs === 0 ? durationMs : Math.min(knownMs, durationMs);
  }
  return { gpuMs, wallMs };
}
