import { KERNELS } from "../../../../kernels/registry.ts";
import type { Device } from "../../../protocol/fleet/hardware.ts";
import type { BenchmarkSpec } from "../../../protocol/jobs/benchmark.ts";
import { tuningIdOf, type TuningKey } from "../../../protocol/jobs/tuning.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { digestCandidates, readSources } from "../../kernels/dispatch/kernel-sources.ts";
import { type KernelChoice, resolveBenchmark } from "../../kernels/dispatch/resolve-benchmark.ts";
import { suitDevice } from "../../kernels/dispatch/suit-device.ts";
import { bucketShape, explainMisfit } from "../../kernels/tuning/list-candidates.ts";
import type { TuningCache } from "../../memory/tuning-cache.ts";

type Problem = Pick<BenchmarkSpec, "kernel" | "shape" | "dtype">;

/** Key of a problem's tuning on a device; null where the device itself has to report what is wrong with the problem. */
export async function describeTuningKey(device: Device, problem: Problem): Promise<TuningKey | null> {
  const choice = resolve(device, problem);
  if (choice === null) return null;
  const { kernel, shape } = choice;
  return {
    kernel: kernel.name,
    dtype: problem.dtype ?? kernel.dtypes[0],
    bucket: bucketShape(shape),
    digest: digestCandidates(kernel, shape, await readSources(kernel)),
    fingerprint: device.fingerprint,
  };
}

/** Whether a choice found at another shape of the bucket can run at this one. */
async function suitsShape(
  device: Device,
  problem: Problem,
  { variant, axes }: { readonly variant: string; readonly axes: Record<string, number> },
): Promise<boolean> {
  const choice = resolve(device, { ...problem, variant }, axes);
  return (
    choice !== null && explainMisfit(choice, choice.shape, await readSources(choice.kernel), device.limits) === null
  );
}

function resolve(
  device: Device,
  problem: Problem & { variant?: string },
  axes: Record<string, number> = {},
): KernelChoice | null {
  try {
    return resolveBenchmark(suitDevice(KERNELS, device), problem, axes);
  } catch (error) {
    if (error instanceof ProblemError) return null;
    throw error;
  }
}

/** The best variant and axes found for this problem's bucket; null where none is known. */
export async function findTuned(
  tunings: TuningCache,
  device: Device,
  spec: Pick<BenchmarkSpec, "kernel" | "shape" | "dtype">,
): Promise<Pick<BenchmarkSpec, "variant" | "axes"> | null> {
  const key = await describeTuningKey(device, spec);
  const known = key === null ? null : await tunings.find(await tuningIdOf(key));
  if (known === null) return null;
  const { variant, axes } = known.tuning.best;
  return (await suitsShape(device, spec, { variant, axes })) ? { variant, axes } : null;
}
