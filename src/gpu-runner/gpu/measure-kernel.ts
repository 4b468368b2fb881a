import { setTimeout } from "node:timers/promises";
import type { RunnableKernel } from "./dispatch.ts";
import type { GpuTimer } from "./timer.ts";

/** Durations of single runs in milliseconds, in order. */
export interface Samples {
  /** Null on a device without timestamps. */
  readonly gpuMs: Float64Array | null;
  /** From submission to completion, on the monotonic clock. */
  readonly wallMs: Float64Array;
}

/** Below this, sleeping costs more than polling does. */
const SHORTEST_NAP_MS = 4;

/** Runs a kernel again and again, one run at a time. `shortestMs` is the shortest run that is known of it. */
export async function measureKernel(
  device: GPUDevice,
  kernel: RunnableKernel,
  timer: GpuTimer | null,
  runs: number,
  beforeRun: (done: number, total: number) => void | Promise<void>,
  shortestMs = 0,
): Promise<Samples> {
  const gpuMs = timer === null ? null : new Float64Array(runs);
  const wallMs = new Float64Array(runs);
  let knownMs = shortestMs;
  for (let run = 0; run < runs; run++) {
    await beforeRun(run, runs);
    const commands = kernel.encode(timer?.timestampWrites);
    const startedAt = performance.now();
    device.queue.submit([commands]);
    await waitForQueue(device, knownMs);
    const tookMs = performance.now() - startedAt;
    wallMs[run] = tookMs;
    if (timer !== null && gpuMs !== null) gpuMs[run] = await timer.readMs();
    const durationMs = Math.min(tookMs, gpuMs?.[run] ?? tookMs);
    knownMs = knownMs === 0 ? durationMs : Math.min(knownMs, durationMs);
  }
  return { gpuMs, wallMs };
}

/**
 * Waits until the queue is empty. Dawn polls with a whole core while anything waits, which a software
 * device needs for itself, so most of the expected time is slept. What is expected should come from the
 * GPU's clock: on the wall's, a nap that was too long is hidden in the next expectation.
 */
async function waitForQueue(device: GPUDevice, expectedMs: number): Promise<void> {
  const napMs = Math.floor(0.9 * expectedMs) - 1;
  if (napMs >= SHORTEST_NAP_MS) await setTimeout(napMs);
  await device.queue.onSubmittedWorkDone();
}
