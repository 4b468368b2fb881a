import type { Device } from "../../../protocol/fleet/hardware.ts";
import type { Profile } from "../../../protocol/fleet/profile.ts";
import { type OptimisationSpec, OptimisationTargets, type SearchSpace } from "../../../protocol/jobs/optimisation.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { FieldError } from "../../../protocol/wire/problem.ts";
import type { InputOf } from "../kind.ts";

/** Bounds of the space that a runner can search. */
export interface SpaceBounds {
  readonly devices: readonly Pick<Device, "key" | "backends">[];
  readonly variants: readonly string[];
  /** Null for a kernel, which has neither threads nor callers. */
  readonly logicalCores: number | null;
}

/** Faults of a space: entries that do not exist, or exceed their bounds. */
export function checkSearchSpace(space: SearchSpace, { devices, variants, logicalCores }: SpaceBounds): FieldError[] {
  const keys = devices.map(({ key }) => key);
  const backends = devices.flatMap((device) => device.backends);
  return [
    ...amongst("deviceKeys", space.deviceKeys, keys),
    ...amongst("backends", space.backends, backends),
    ...amongst("variants", space.variants, variants),
    ...upTo("maxRows", space.maxRows, logicalCores === null ? Number.MAX_SAFE_INTEGER : LIMITS.batchRows),
    ...(logicalCores === null
      ? [...absent("threads", space.threads), ...absent("concurrency", space.concurrency)]
      : [
          ...upTo("threads", space.threads, Math.min(logicalCores, LIMITS.intraOpThreads)),
          ...upTo("concurrency", space.concurrency, LIMITS.deviceQueueRequests),
        ]),
  ];
}

function amongst(field: string, wanted: readonly string[] = [], known: readonly string[]): FieldError[] {
  const message = `must be one of: ${[...new Set(known)].toSorted().join(", ")}`;
  return wanted.flatMap((each, index) =>
    known.includes(each) ? [] : [{ pointer: `#/space/${field}/${index}`, message }],
  );
}

function upTo(field: string, wanted: readonly number[] = [], most: number): FieldError[] {
  return wanted.flatMap((each, index) =>
    each <= most ? [] : [{ pointer: `#/space/${field}/${index}`, message: `must be at most ${most}` }],
  );
}

function absent(field: string, wanted: readonly number[] | undefined): FieldError[] {
  return wanted === undefined ? [] : [{ pointer: `#/space/${field}`, message: "belongs to models" }];
}

/**
 * The space without values that the subject names otherwise, values that the profile excludes, and variants known to
 * miss the wanted fidelity. A precision without a variant named after it narrows nothing. An error if nothing is left.
 */
export function narrowSpace(
  { subject, space, targets }: Pick<OptimisationSpec, "subject" | "space" | "targets">,
  { variants }: SpaceBounds,
  fidelities: ReadonlyMap<string, number>,
  profile: Profile | null,
): { space: SearchSpace; errors: FieldError[] } {
  const { backends, precision, maxBatch } = profile?.settings ?? {};
  const errors: FieldError[] = [];
  const left = <Value>(field: keyof SearchSpace, values: readonly Value[], reason: string): Value[] => {
    if (values.length === 0) errors.push({ pointer: `#/space/${field}`, message: reason });
    return [...values];
  };
  const narrowed: SearchSpace = { ...space };
  const named = subject.kind === "model" ? subject.backend : undefined;
  if (backends !== undefined || named !== undefined) {
    const wanted = space.backends ?? backends ?? [named!];
    const allowed = wanted.filter((each) => (backends ?? wanted).includes(each) && (named ?? each) === each);
    narrowed.backends = left("backends", allowed, `has none of those of profile and subject: ${list(backends, named)}`);
  }
  const byPrecision = subject.kind === "model" && precision !== undefined && variants.includes(precision);
  const faithful = (space.variants ?? variants)
    .filter((each) => (subject.variant ?? each) === each)
    .filter((each) => !byPrecision || each === precision);
  const enough = faithful.filter((each) => (fidelities.get(each) ?? 1) >= targets.minFidelity);
  if (faithful.length === 0) left("variants", faithful, `has none of those of profile and subject`);
  else if (enough.length === 0) {
    const known = faithful.map((each) => `${each} ${fidelities.get(each)}`).join(", ");
    errors.push({ pointer: "#/targets/minFidelity", message: `is more than any variant has: ${known}` });
  }
  if (enough.length < variants.length || space.variants !== undefined) narrowed.variants = enough;
  if (maxBatch !== undefined) {
    const wanted = space.maxRows ?? powersOfTwo(Math.min(maxBatch, LIMITS.batchRows));
    const allowed = wanted.filter((each) => each <= maxBatch);
    narrowed.maxRows = left("maxRows", allowed, `is all above ${maxBatch}, the largest batch of the profile`);
  }
  return { space: narrowed, errors };
}

function powersOfTwo(most: number): number[] {
  return Array.from({ length: Math.floor(Math.log2(most)) + 1 }, (_, power) => 2 ** power);
}

function list(backends: readonly string[] | undefined, named: string | undefined): string {
  return [...new Set([...(backends ?? []), ...(named === undefined ? [] : [named])])].join(", ");
}

type Input = Pick<InputOf<OptimisationSpec>, "subject" | "targets" | "objective">;

/** Targets that apply only to models. */
const OF_MODELS = ["memoryBytes", "minFidelity"] as const;

/**
 * Targets of a search: its own, completed by those of the profile. A job without targets, objective or a profile with
 * targets has none.
 */
export function resolveTargets(
  { subject, targets: asked = {}, objective }: Input,
  profile: Profile | null,
): { targets: OptimisationTargets; errors: FieldError[] } {
  const { throughputRps, ...others } = profile?.targets ?? {};
  const given = { ...others, ...(throughputRps !== undefined && { throughputPerS: throughputRps }) };
  const isModel = subject.kind === "model";
  if (!isModel) delete given.memoryBytes;
  const errors = isModel
    ? []
    : OF_MODELS.filter((name) => asked[name] !== undefined).map((name) => ({
        pointer: `#/targets/${name}`,
        message: "belongs to models: it is not measured of a kernel",
      }));
  const { percentile: _, ...bounds } = { ...given, ...asked };
  if (Object.keys(bounds).length === 0 && objective === undefined) {
    errors.push({ pointer: "#/targets", message: "names nothing to reach, and there is no objective" });
  }
  return { targets: OptimisationTargets.parse({ ...given, ...asked }), errors };
}
