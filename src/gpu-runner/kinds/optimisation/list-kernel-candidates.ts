import { KERNELS } from "../../../../kernels/registry.ts";
import type { Device } from "../../../protocol/fleet/hardware.ts";
import type { JobSubject } from "../../../protocol/jobs/job-fields.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { Candidate, SearchSpace } from "../../../protocol/jobs/optimisation.ts";
import { readSources } from "../../kernels/dispatch/kernel-sources.ts";
import { listCandidates } from "../../kernels/tuning/list-candidates.ts";
import { resolveBenchmark } from "../../kernels/dispatch/resolve-benchmark.ts";
import { suitDevice } from "../../kernels/dispatch/suit-device.ts";
import { allows, powersOfTwo } from "./list-model-candidates.ts";

type KernelSubject = Extract<JobSubject, { kind: "kernel" }>;

/** Device that has the kernel, with its variants there. */
export interface KernelPlace {
  readonly device: Pick<Device, "key" | "backends" | "limits" | "software">;
  readonly variants: readonly string[];
}

export interface KernelCandidates {
  readonly candidates: Candidate[];
  /** Index of the one that runs untuned, at the given sizes. */
  readonly standing: number | null;
}

/**
 * Every variant with its axes on every device, without those that exceed a device's limits.
 * Batches are powers of two where the kernel counts independent items and no batch is given.
 * Throws `invalid-request` for sizes that the kernel rejects.
 */
export async function listKernelCandidates(
  subject: KernelSubject,
  space: SearchSpace,
  places: readonly KernelPlace[],
  seed: number,
): Promise<KernelCandidates> {
  const untuned = resolveBenchmark(KERNELS, subject);
  const sources = await readSources(untuned.kernel);
  const candidates: Candidate[] = [];
  let standing: number | null = null;
  for (const { device, variants } of places) {
    const backend = device.backends.includes("wgsl") ? "wgsl" : "cpu-simd";
    if (!allows(space.deviceKeys, device.key) || !allows(space.backends, backend)) continue;
    const isOffered = (variant: string) =>
      variants.includes(variant) && allows(space.variants, variant) && (subject.variant ?? variant) === variant;
    for (const maxRows of batchesOf(subject, space)) {
      const shape = shapeAt(subject, maxRows);
      const place = { deviceKey: device.key, backend, threads: 1, maxRows, concurrency: 1 } as const;
      if (backend === "cpu-simd") {
        candidates.push(...variants.filter(isOffered).map((variant) => ({ ...place, variant })));
        continue;
      }
      const choice = resolveBenchmark(suitDevice(KERNELS, device), { ...subject, shape });
      const listed = listCandidates(choice, sources, device.limits, seed, LIMITS.tuningCandidates);
      for (const [index, { variant, axes }] of listed.candidates.entries()) {
        if (!isOffered(variant.name)) continue;
        const isUntuned = index === 0 && listed.hasDefault && maxRows === (batchOf(untuned.shape, subject) ?? 1);
        if (isUntuned) standing ??= candidates.length;
        candidates.push({ ...place, variant: variant.name, axes: { ...axes } });
      }
    }
  }
  return { candidates, standing };
}

/** Sizes of a kernel at a batch. */
export function shapeAt({ kernel, shape }: KernelSubject, batch: number): Record<string, number> {
  const { batchDimension } = KERNELS.get(kernel) ?? {};
  return batchDimension === undefined ? shape : { ...shape, [batchDimension]: batch };
}

function batchOf(shape: Readonly<Record<string, number>>, { kernel }: KernelSubject): number | undefined {
  return shape[KERNELS.get(kernel)?.batchDimension ?? ""];
}

function batchesOf(subject: KernelSubject, space: SearchSpace): number[] {
  const { batchDimension, dimensions = [] } = KERNELS.get(subject.kernel) ?? {};
  const dimension = dimensions.find(({ name }) => name === batchDimension);
  if (dimension === undefined) return [1];
  const named = subject.shape[dimension.name];
  if (named !== undefined) return [named];
  const wanted = space.maxRows ?? [...new Set([...powersOfTwo(LIMITS.batchRows), dimension.default])];
  return wanted.filter((batch) => batch >= dimension.min && batch <= dimension.max);
}
