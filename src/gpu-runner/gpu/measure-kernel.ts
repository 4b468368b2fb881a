import type { PreparedKernel } from "./dispatch.ts";
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

/** Runs a kernel again and again, one run at a time; `onRun` is told of the steps of each. */
export async function measureKernel(
  device: GPUDevice,
  kernel: PreparedKernel,
  timer: GpuTimer | null,
  runs: number,
  beforeRun: (done: number, total: number) => void | Promise<void>,
  onRun?: (run: number, times: RunTimes) => void,
): Promise<Samples> {
  const gpuMs = timer === null ? null : new Float64Array(runs);
  const wallMs = new Float64Array(runs);
  let shortestMs = 0;
  for (let run = 0; run < runs; run++) {
    await beforeRun(run, runs);
    const startMs = performance.now();
    const commands = kernel.encode(timer?.timestampWrites);
    const startedAt = performance.now();
    device.queue.submit([commands]);
    const submittedMs = performance.now();
    // From the GPU's clock, where there is one: on the wall's, a nap that was too long hides in the next expectation.
    await napFor(shortestMs);
    await device.queue.onSubmittedWorkDone();
    const doneMs = performance.now();
    const tookMs = doneMs - startedAt;
    wallMs[run] = tookMs;
    const ticks = timer === null ? null : await timer.readTicks();
    if (ticks !== null && gpuMs !== null) gpuMs[run] = Number(ticks.endNs - ticks.beginNs) / 1e6;
    onRun?.(run, { startMs, submittedMs, doneMs, readMs: performance.now(), ticks });
    const durationMs = Math.min(tookMs, gpuMs?.[run] ?? tookMs);
    shortestMs = run === 0 ? durationMs : Math.min(shortestMs, durationMs);
  }
  return { gpuMs, wallMs };
}
