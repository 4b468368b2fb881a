import type { AxisValues, KernelShape, KernelVariant } from "../../../../kernels/kernel-spec.ts";
import { seededUniform } from "../../../../kernels/seeded-uniform.ts";
import { readWorkgroup } from "../benchmark/read-workgroup.ts";
import type { KernelSources } from "../dispatch/kernel-sources.ts";
import type { KernelChoice } from "../dispatch/resolve-benchmark.ts";

/** Variant with a value for each of its axes. */
export interface Candidate {
  readonly variant: KernelVariant;
  readonly axes: AxisValues;
}

export interface CandidateList {
  /** Candidates in the order of trial: the default, each variant's own values, then the rest in seeded order. */
  readonly candidates: readonly Candidate[];
  /** Whether the first one is the untuned default. */
  readonly hasDefault: boolean;
  /** Candidates that cannot run on the device, with reasons. */
  readonly rejected: readonly { readonly candidate: Candidate; readonly reason: string }[];
  /** Number of combinations. */
  readonly total: number;
}

/** Limits of a device that a dispatch may exceed. */
export type DispatchLimits = Readonly<Partial<Record<string, number>>>;

/** Random stream that differs from those of the generators. */
const SHUFFLE_STREAM = 1_000_004;

/**
 * Every variant with every combination of its axes. Beyond `most`, that many are drawn; the default and each variant's
 * own values are always included. A pure function of its arguments.
 */
export function listCandidates(
  untuned: KernelChoice,
  sources: KernelSources,
  limits: DispatchLimits,
  seed: number,
  most: number,
): CandidateList {
  const all = untuned.kernel.variants.flatMap(combineAxes);
  const place = (candidate: Candidate) =>
    isSame(candidate, untuned) ? 0 : isSame(candidate, { ...candidate, axes: defaultAxes(candidate.variant) }) ? 1 : 2;
  const draws = seededUniform(seed, SHUFFLE_STREAM, all.length);
  const order = all
    .map((candidate, index) => ({ candidate, place: place(candidate), draw: draws[index] ?? 0 }))
    .toSorted((a, b) => a.place - b.place || (a.place === 2 ? a.draw - b.draw : 0))
    .map(({ candidate }) => candidate);
  const judged = order.map((candidate) => ({
    candidate,
    reason: explainMisfit(candidate, untuned.shape, sources, limits),
  }));
  const candidates = judged.filter(({ reason }) => reason === null).map(({ candidate }) => candidate);
  const rejected = judged.flatMap(({ candidate, reason }) => (reason === null ? [] : [{ candidate, reason }]));
  const hasDefault = candidates[0] !== undefined && isSame(candidates[0], untuned);
  return { candidates: candidates.slice(0, most), hasDefault, rejected: rejected.slice(0, most), total: all.length };
}

/** Reason why a candidate cannot run on a device at a shape, as far as it is known before compilation. */
export function explainMisfit(
  { variant, axes }: Candidate,
  shape: KernelShape,
  sources: KernelSources,
  limits: DispatchLimits,
): string | null {
  if (!(variant.takes?.(shape) ?? true)) return "the variant does not take this shape";
  const beyond = (what: string, size: number, limit: number | undefined) =>
    limit !== undefined && size > limit ? `${what} are ${size}, and the device takes ${limit}` : null;
  const numbers = { ...axes, ...variant.constants?.(shape) };
  for (const pass of variant.passes) {
    const { entryPoint } = pass;
    const groups = Math.max(...pass.workgroups(shape, axes));
    const workgroup = readWorkgroup(sources.get(variant.file) ?? "", entryPoint, numbers);
    const [x, y, z] = workgroup?.size ?? [1, 1, 1];
    const reason =
      beyond("workgroups along a dimension", groups, limits.maxComputeWorkgroupsPerDimension) ??
      beyond("invocations of a workgroup", x * y * z, limits.maxComputeInvocationsPerWorkgroup) ??
      beyond("invocations along x", x, limits.maxComputeWorkgroupSizeX) ??
      beyond("invocations along y", y, limits.maxComputeWorkgroupSizeY) ??
      beyond("invocations along z", z, limits.maxComputeWorkgroupSizeZ);
    if (reason !== null) return `${entryPoint}: ${reason}`;
  }
  return null;
}

/** Untuned values of a variant. */
export function defaultAxes({ axes }: KernelVariant): AxisValues {
  return Object.fromEntries(axes.map((axis) => [axis.name, axis.default]));
}

function combineAxes(variant: KernelVariant): Candidate[] {
  let settings: AxisValues[] = [{}];
  for (const { name, values } of variant.axes) {
    settings = settings.flatMap((chosen) => values.map((value) => ({ ...chosen, [name]: value })));
  }
  return settings.map((axes) => ({ variant, axes }));
}

function isSame(a: Candidate, b: Candidate): boolean {
  return a.variant.name === b.variant.name && a.variant.axes.every(({ name }) => a.axes[name] === b.axes[name]);
}

/** Up to here sizes are exact: many are choices (an activation, a stride) and no extents. */
const EXACT = 8;

/** Shape that shares a tuning with its neighbours: larger sizes are rounded to the nearest power of two, by ratio. */
export function bucketShape(shape: KernelShape): Record<string, number> {
  return Object.fromEntries(
    Object.entries(shape).map(([name, size]) => [name, size <= EXACT ? size : 2 ** Math.round(Math.log2(size))]),
  );
}
