import { KERNELS } from "../../../kernels/registry.ts";
import type { BenchmarkSpec } from "../../protocol/benchmark.ts";
import type { Device } from "../../protocol/hardware.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { TuningKey } from "../../protocol/tuning.ts";
import { digestCandidates, readSources } from "../gpu/kernel-sources.ts";
import { explainMisfit } from "../gpu/list-candidates.ts";
import { type KernelChoice, resolveBenchmark } from "../gpu/resolve-benchmark.ts";
import { bucketShape } from "../gpu/shape-bucket.ts";

type Problem = Pick<BenchmarkSpec, "kernel" | "shape" | "dtype">;

/**
 * What a tuning of this problem on this device is known by; null where the device has to say what is
 * wrong with it.
 */
export async function describeTuningKey(device: Device, problem: Problem): Promise<TuningKey | null> {
  const choice = resolve(problem);
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

/** Whether a choice that was found at another shape of the bucket can run at this one. */
export async function suitsShape(
  device: Device,
  problem: Problem,
  { variant, axes }: { readonly variant: string; readonly axes: Record<string, number> },
): Promise<boolean> {
  const choice = resolve({ ...problem, variant }, axes);
  return (
    choice !== null && explainMisfit(choice, choice.shape, await readSources(choice.kernel), device.limits) === null
  );
}

function resolve(problem: Problem & { variant?: string }, axes: Record<string, number> = {}): KernelChoice | null {
  try {
    return resolveBenchmark(KERNELS, problem, axes);
  } catch (error) {
    if (error instanceof ProblemError) return null;
    throw error;
  }
}
