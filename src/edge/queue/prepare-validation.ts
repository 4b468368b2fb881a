import type { JobInput, JobSpec } from "../../protocol/job.ts";
import type { FieldError } from "../../protocol/problem.ts";
import type { Requirement } from "../../protocol/requirement.ts";
import { leastMsOf } from "../../protocol/scenario.ts";
import { findRequirementSet } from "../store/requirement-store.ts";
import { checkDevice } from "./check-device.ts";
import { checkKernelSubject } from "./check-kernel-subject.ts";
import { checkThreads } from "./check-threads.ts";
import { checkRequirements } from "./check-requirements.ts";
import type { JobSurroundings, Prepared } from "./prepare-spec.ts";
import { resolveModel } from "./resolve-model.ts";

type Input = Extract<JobInput, { kind: "validation" }>;
type Spec = Extract<JobSpec, { kind: "validation" }>;

/** Fills in the requirements of a named set, and for a model where it is validated and how it is served there. */
export async function prepareValidation(input: Input, surroundings: JobSurroundings): Promise<Prepared<Spec>> {
  const named = await readRequirements(input, surroundings);
  const spec: Spec = { ...input, ...named.fields };
  const errors = [...named.errors, ...checkRequirements(spec), ...checkTimeout(spec)];
  const subject = await (spec.subject.kind === "model"
    ? placeModel(spec, surroundings)
    : checkKernel(spec, surroundings));
  return { spec: subject.spec, errors: [...errors, ...subject.errors] };
}

type Requirements = Pick<Spec, "requirements" | "requirementSet">;

/** The requirements of a job with the name of their set, if they are of one. */
async function readRequirements(
  { requirements }: Input,
  { db }: JobSurroundings,
): Promise<{ fields: Requirements; errors: FieldError[] }> {
  if (typeof requirements !== "string") return { fields: { requirements }, errors: [] };
  const set = await findRequirementSet(db, requirements);
  if (set === null) {
    const fields = { requirements: [] as Requirement[] };
    return { fields, errors: [{ pointer: "#/requirements", message: "is not the name of a requirement set" }] };
  }
  return { fields: { requirements: set.requirements, requirementSet: set.name }, errors: [] };
}

function checkTimeout({ scenarios, paths, timeoutMs }: Spec): FieldError[] {
  const leastMs = paths.length * scenarios.reduce((sum, scenario) => sum + leastMsOf(scenario), 0);
  if (leastMs < timeoutMs) return [];
  return [{ pointer: "#/timeoutMs", message: `must be longer than the scenarios together, ${leastMs} ms` }];
}

async function placeModel(spec: Spec, surroundings: JobSurroundings): Promise<Prepared<Spec>> {
  if (spec.subject.kind !== "model") return { spec, errors: [] };
  const errors: FieldError[] = [];
  if (spec.configuration !== undefined && spec.paths.includes("edge")) {
    const message = "cannot be tried on the path edge, which is served under the placement's own";
    errors.push({ pointer: "#/configuration", message });
  }
  const resolved = await resolveModel(surroundings, spec.subject, spec.deviceKey);
  if (!resolved.ok) return { spec, errors: [...errors, ...resolved.errors] };
  const { version, placement } = resolved;
  const { id: placementId, runnerId, deviceKey, variant, backend, fidelity, configuration } = placement;
  if (backend === "edge-wasm") throw new TypeError("a placement at the edge is none of a runner");
  const model = `${version.model}@${version.version}`;
  const subject = { ...spec.subject, model, variant, backend };
  const runner = surroundings.candidates.find(({ id }) => id === runnerId);
  const tried = spec.configuration ?? configuration;
  errors.push(...checkThreads(tried, backend, runner?.capabilities ?? null, "#/configuration"));
  const filled = { ...spec, subject, modelVersionId: version.id, placementId, runnerId, deviceKey, fidelity };
  return { spec: { ...filled, configuration: tried }, errors };
}

async function checkKernel(spec: Spec, { candidates, announced }: JobSurroundings): Promise<Prepared<Spec>> {
  if (spec.subject.kind !== "kernel") return { spec, errors: [] };
  const { subject, deviceKey } = spec;
  const errors = checkKernelSubject(subject, announced);
  if (spec.paths.includes("edge")) errors.push({ pointer: "#/paths", message: "must be runner alone for a kernel" });
  if (spec.configuration !== undefined) {
    errors.push({ pointer: "#/configuration", message: "belongs to models: no kernel is served" });
  }
  const capabilities = candidates.map((candidate) => candidate.capabilities);
  return { spec, errors: [...errors, ...checkDevice({ ...subject, deviceKey }, capabilities)] };
}
