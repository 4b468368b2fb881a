import type { OptimisationSpec } from "../../../protocol/jobs/optimisation.ts";
import { FIRST_VARIANT } from "../../../protocol/models/model.ts";
import type { LivePlacement } from "../../store/fleet/live-placement-store.ts";
import type { NamedVersion } from "../../store/models/model-store.ts";
import { checkKernelSubject } from "../subjects/check-benchmark.ts";
import { checkSearchSpace, narrowSpace, resolveTargets, type SpaceBounds } from "./search-space.ts";
import type { InputOf, JobSurroundings, Prepared } from "../kind.ts";
import { resolveModel } from "../subjects/resolve-model.ts";

/**
 * Fills in a search's targets and space, and for a model its version and present serving configuration. The job's own
 * targets override those of the profile, whose settings narrow the space.
 */
export async function prepareOptimisation(
  input: InputOf<OptimisationSpec>,
  surroundings: JobSurroundings,
): Promise<Prepared<OptimisationSpec>> {
  const { targets, errors } = resolveTargets(input, surroundings.profile);
  const spec: OptimisationSpec = {
    ...input,
    objective: input.objective ?? "throughput",
    targets,
    space: input.space ?? {},
  };
  const subject = await (spec.subject.kind === "model"
    ? prepareModel(spec, surroundings)
    : prepareKernel(spec, surroundings));
  return { spec: subject.spec, errors: [...errors, ...subject.errors] };
}

async function prepareModel(
  spec: OptimisationSpec,
  surroundings: JobSurroundings,
): Promise<Prepared<OptimisationSpec>> {
  if (spec.subject.kind !== "model") return { spec, errors: [] };
  const resolved = await resolveModel(surroundings, spec.subject, undefined);
  if (!resolved.ok) return { spec, errors: resolved.errors };
  const { version, placement } = resolved;
  const runner = surroundings.candidates.find(({ id }) => id === placement.runnerId);
  const fidelities = fidelitiesOf(version, placement);
  const bounds: SpaceBounds = {
    devices: runner?.capabilities.devices ?? [],
    variants: version.variants.map(({ name }) => name),
    logicalCores: runner?.capabilities.hardware.cpu.logicalCores ?? 1,
  };
  const errors = checkSearchSpace(spec.space, bounds);
  const narrowed = narrowSpace(spec, bounds, fidelities, surroundings.profile);
  const { id: placementId, runnerId, deviceKey, variant, backend, configuration } = placement;
  return {
    spec: {
      ...spec,
      space: narrowed.space,
      runnerId,
      modelVersionId: version.id,
      standing: { placementId, deviceKey, backend, variant, configuration },
      fidelities: declaredFidelities(version),
    },
    errors: errors.length > 0 ? errors : narrowed.errors,
  };
}

/** Fidelity of each variant as its uploader declared it; the search measures the others. */
function declaredFidelities({ variants }: NamedVersion): Record<string, number> {
  return Object.fromEntries(variants.flatMap(({ name, fidelity }) => (fidelity === null ? [] : [[name, fidelity]])));
}

/**
 * Known fidelities of the variants: declared, or measured by a placement; that of the first variant is 1 by definition.
 */
function fidelitiesOf(version: NamedVersion, { variant, fidelity }: LivePlacement): ReadonlyMap<string, number> {
  const measured = fidelity === null ? {} : { [variant]: fidelity };
  return new Map(Object.entries({ [FIRST_VARIANT]: 1, ...measured, ...declaredFidelities(version) }));
}

async function prepareKernel(
  spec: OptimisationSpec,
  { candidates, announced, profile }: JobSurroundings,
): Promise<Prepared<OptimisationSpec>> {
  if (spec.subject.kind !== "kernel") return { spec, errors: [] };
  const { subject, space } = spec;
  const kernel = announced.flatMap(({ kernels }) => kernels).find(({ name }) => name === subject.kernel);
  const bounds: SpaceBounds = {
    devices: candidates.flatMap(({ capabilities }) => capabilities.devices),
    variants: kernel?.variants ?? [],
    logicalCores: null,
  };
  const errors = [...checkKernelSubject(subject, announced), ...checkSearchSpace(space, bounds)];
  if (spec.apply) errors.push({ pointer: "#/apply", message: "belongs to models: no kernel is served" });
  const narrowed = narrowSpace(spec, bounds, new Map(), profile);
  return { spec: { ...spec, space: narrowed.space }, errors: errors.length > 0 ? errors : narrowed.errors };
}
