import type { Device } from "../../../protocol/fleet/hardware.ts";
import type { Clock } from "../../../protocol/wire/distribution.ts";
import type { RunTimes } from "../../devices/gpu/span-recorder.ts";
import type { GpuTimer } from "../../devices/gpu/timer.ts";
import { napFor, RunForecast } from "../../devices/gpu/wait-for-gpu.ts";
import type { RunnableKernel } from "../dispatch/dispatch.ts";
import { noteBusy } from "./raise-clocks.ts";

/** Timestamps of a software device are erratic below this. */
const SHORTEST_TRUSTED_MS = 0.1;

/** Clock for all candidates of a search, however short the fastest of them are. */
export function chooseSearchClock(description: Pick<Device, "software" | "timestampQuantised">): Clock {
  return description.software ? "runner-wall" : chooseClock(description, Number.POSITIVE_INFINITY);
}

/** Clock for throughput: the GPU's, where its timestamps can be trusted. */
export function chooseClock(
  { software, timestampQuantised }: Pick<Device, "software" | "timestampQuantised">,
  gpuMs: number | null,
): Clock {
  const trusted = gpuMs !== null && gpuMs > (software ? SHORTEST_TRUSTED_MS : 0) && timestampQuantised === false;
  return trusted ? "gpu-timestamp" : "runner-wall";
}

/** Durations of single runs in milliseconds, in order. */
export interface Samples {
  /** Null on a device without timestamps. */
  readonly gpuMs: Float64Array | null;
  /** From submission to completion, on the monotonic clock. */
  readonly wallMs: Float64Array;
}

interface MeasureOptions {
  /** Forecast from earlier runs of the kernel; it learns from these runs. */
  readonly forecast?: RunForecast;
  /** Called with the steps of each run. */
  readonly onRun?: (run: number, times: RunTimes) => void;
}

/** Runs a kernel repeatedly, one run at a time. */
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
    // Uses the GPU's clock where there is one: on the wall clock, an overlong nap would enter the next forecast.
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
  noteBusy(device);
  return { gpuMs, wallMs };
}
