import { setTimeout as sleep } from "node:timers/promises";
import { fmaPeak } from "../../../../kernels/fma-peak/fma-peak.kernel.ts";
import type { Device } from "../../../protocol/fleet/hardware.ts";
import { type KernelContext, prepareKernel } from "../../kernels/dispatch/dispatch.ts";
import { defaultAxes } from "../../kernels/tuning/list-candidates.ts";
import { measureKernel } from "../../kernels/benchmark/measure-kernel.ts";
import { measureQuantisation } from "../../kernels/describe-gpu.ts";
import type { RunTimes } from "../../devices/gpu/span-recorder.ts";
import { GpuTimer, type Ticks } from "../../devices/gpu/timer.ts";
import type { Claim } from "./claim.ts";

const RUNS = 16;
/** Pause between runs, so that there is time to compare. */
const REST_MS = 10;
/** Largest difference between the two clocks over all runs. */
const MOST_APART = 2;

/** Claims that GPU timestamps advance at the pace of the wall clock, in steps as fine as claimed. */
export function timestampClaims(
  context: KernelContext,
  { features, timestampQuantised }: Pick<Device, "features" | "timestampQuantised">,
): Claim[] {
  if (!features.includes("timestamp-query")) return [];
  return [
    {
      claim: "timestamp-query",
      claimed: "timestamps go forward at the pace of time",
      find: async () => judgeTicks(await takeTicks(context)),
    },
    {
      claim: "timestampQuantised",
      claimed: timestampQuantised === true ? "coarse steps" : "fine steps",
      find: async () => {
        const isCoarse = await measureQuantisation(context);
        return { found: isCoarse ? "coarse steps" : "fine steps", ok: timestampQuantised === true || !isCoarse };
      },
    },
  ];
}

interface TimedTicks {
  readonly ticks: readonly Ticks[];
  /**
   * Bounds between the starts of the first and last runs: each start lies between submission and end by the wall clock.
   */
  readonly leastMs: number;
  readonly mostMs: number;
}

async function takeTicks(context: KernelContext): Promise<TimedTicks> {
  const timer = new GpuTimer(context.device, context.pool);
  const shape = { n: 2 ** 16, rounds: 64 };
  const variant = fmaPeak.variants[0];
  const axes = defaultAxes(variant);
  const prepared = await prepareKernel(context, { kernel: fmaPeak, variant, shape, axes }, fmaPeak.generate(shape, 0));
  const runs: RunTimes[] = [];
  try {
    const rest = () => sleep(REST_MS);
    await measureKernel(context.device, prepared, timer, RUNS, rest, { onRun: (_, times) => runs.push(times) });
  } finally {
    prepared.release();
    timer.destroy();
  }
  const [first, last] = [runs[0]!, runs.at(-1)!];
  const ticks = runs.flatMap((run) => (run.ticks === null ? [] : [run.ticks]));
  return { ticks, leastMs: last.startMs - first.doneMs, mostMs: last.doneMs - first.startMs };
}

/** Whether ticks are in order, and the time between them is possible by the wall clock. */
export function judgeTicks({ ticks, leastMs, mostMs }: TimedTicks): { found: string; ok: boolean } {
  const backwards = ticks.filter(
    ({ beginNs, endNs }, index) => endNs < beginNs || beginNs < (ticks[index - 1]?.endNs ?? beginNs),
  );
  const gpuMs = Number((ticks.at(-1)?.beginNs ?? 0n) - (ticks[0]?.beginNs ?? 0n)) / 1e6;
  const isPaced = gpuMs * MOST_APART >= leastMs && gpuMs <= mostMs * MOST_APART;
  const order = backwards.length === 0 ? "in order" : `${backwards.length} of ${ticks.length} out of order`;
  return {
    found: `${order}; ${gpuMs.toFixed(1)} ms while ${leastMs.toFixed(1)} to ${mostMs.toFixed(1)} ms passed`,
    ok: backwards.length === 0 && isPaced,
  };
}
