import { availableParallelism, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { fmaPeak } from "../../../../kernels/fma-peak/fma-peak.kernel.ts";
import type { Device } from "../../../protocol/fleet/hardware.ts";
import { assertWanted } from "../../devices/progress.ts";
import type { BenchmarkDevice } from "../../kernels/benchmark/benchmark-kernel.ts";
import { type PreparedKernel, prepareKernel } from "../../kernels/dispatch/dispatch.ts";
import { defaultAxes } from "../../kernels/tuning/list-candidates.ts";
import { measureKernel } from "../../kernels/benchmark/measure-kernel.ts";
import { type PeakName, remeasurePeak } from "../../kernels/roofline/roofline.ts";
import type { Claim } from "./claim.ts";
import { shareCoreUntil } from "../../devices/gpu/wait-for-gpu.ts";

/** Share of an earlier peak that must be reached again. */
const LEAST_SHARE = 0.25;
const PEAK_BUDGET_MS = 1_500;
/** Most host cores in use while a GPU computes: a driver uses nearly none, an emulation one or more. */
const MOST_HOST_CORES = 0.3;
const WATCHED_MS = 200;
const MOST_SUBMISSIONS = 2_000;

/** Claims that the device is as fast as its stored roofs, and that a real GPU computes without the host's cores. */
export function speedClaims(
  target: BenchmarkDevice,
  { roofline, software }: Pick<Device, "roofline" | "software">,
  signal: AbortSignal,
): Claim[] {
  const peaks: [PeakName, number, string][] =
    roofline === null
      ? []
      : [
          ["float32", roofline.gflops.float32?.value ?? 0, "GFLOP/s"],
          ["triad", roofline.gigabytesPerSecond.triad?.value ?? 0, "GB/s"],
        ];
  const claims = peaks
    .filter(([, value]) => value > 0)
    .map(([name, value, unit]): Claim => ({
      claim: `speed: ${name}`,
      claimed: `${value.toPrecision(3)} ${unit}`,
      find: async () => {
        const peak = await remeasurePeak(target, name, PEAK_BUDGET_MS, signal);
        const busy = software ? (loadavg()[0] ?? 0) / availableParallelism() : 0;
        return judgeSpeed(peak.value, value, unit, busy);
      },
    }));
  if (!software) claims.push({ claim: "computes by itself", claimed: "a GPU", find: () => watchHost(target, signal) });
  return claims;
}

/** Judges a speed; `load` is of all cores, and an emulation that has to share them is not called slow. */
export function judgeSpeed(found: number, claimed: number, unit: string, load: number): { found: string; ok: boolean } {
  const text = `${found.toPrecision(3)} ${unit}`;
  if (found >= LEAST_SHARE * claimed) return { found: text, ok: true };
  if (load > 0.75) return { found: `${text}, not judged: the cores are busy with others`, ok: true };
  return { found: `${text}, ${(100 * (found / claimed)).toFixed(0)} % of it`, ok: false };
}

/** Whether the host's cores work while the device supposedly computes. */
async function watchHost(target: BenchmarkDevice, signal: AbortSignal): Promise<{ found: string; ok: boolean }> {
  const prepared = await prepareLong(target, signal);
  try {
    const { wallMs } = await measureKernel(target.device, prepared, null, 3, () => {});
    const runMs = Math.min(...wallMs);
    const submissions = Math.min(MOST_SUBMISSIONS, Math.ceil(WATCHED_MS / runMs));
    for (let index = 0; index < submissions; index++) target.device.queue.submit([prepared.encode()]);
    // No Dawn promise is awaited meanwhile: its polls would use a core of their own.
    const before = process.cpuUsage();
    const startedAt = performance.now();
    await sleep(Math.max(20, 0.7 * submissions * runMs));
    const { user, system } = process.cpuUsage(before);
    const cores = (user + system) / 1e3 / (performance.now() - startedAt);
    await shareCoreUntil(target.device.queue.onSubmittedWorkDone());
    return judgeHost(cores);
  } finally {
    prepared.release();
  }
}

/** Judges `cores`, the host cores that worked for this process while its device computed. */
export function judgeHost(cores: number): { found: string; ok: boolean } {
  return { found: `${cores.toFixed(2)} of the host's cores worked meanwhile`, ok: cores <= MOST_HOST_CORES };
}

/** Kernel that runs for some milliseconds on this device, or as long as it can. */
async function prepareLong(target: BenchmarkDevice, signal: AbortSignal): Promise<PreparedKernel> {
  const variant = fmaPeak.variants[0];
  const axes = defaultAxes(variant);
  for (let rounds = 16; ; rounds *= 4) {
    assertWanted(signal);
    const shape = { n: 2 ** 20, rounds };
    const kernel = await prepareKernel(target, { kernel: fmaPeak, variant, shape, axes }, fmaPeak.generate(shape, 0));
    const { wallMs } = await measureKernel(target.device, kernel, null, 2, () => {});
    if (Math.min(...wallMs) >= 2 || rounds >= 1_024) return kernel;
    kernel.release();
  }
}
