import type { ValidationSpec } from "../../../protocol/jobs/validation.ts";
import { type RequiredMetric, type Requirement, SCENARIOS_OF } from "../../../protocol/models/requirement.ts";
import { leastMsOf } from "../../../protocol/models/scenario.ts";
import type { FieldError } from "../../../protocol/wire/problem.ts";
import { checkThreads } from "../../fleet/machine-fit.ts";
import { findRequirementSet } from "../../store/fleet/requirement-store.ts";
import type { InputOf, JobSurroundings, Prepared } from "../kind.ts";
import { checkKernelSubject } from "../subjects/check-benchmark.ts";
import { checkDevice } from "../subjects/kernel-devices.ts";
import { resolveModel } from "../subjects/resolve-model.ts";

type Asked = Pick<ValidationSpec, "subject" | "scenarios" | "paths" | "requirements" | "requirementSet">;

/** Metrics that apply only to models. */
const OF_MODELS: ReadonlySet<RequiredMetric> = new Set(["artifactBytes", "fidelity"]);

/** Faults for required metrics that the validation would not measure and so could not judge. */
function checkRequirements(asked: Asked): FieldError[] {
  return asked.requirements.flatMap((requirement, index) => {
    const unmeasured = explainUnmeasured(requirement, asked);
    if (unmeasured === null) return [];
    const [field, message] = unmeasured;
    if (asked.requirementSet === undefined) return [{ pointer: `#/requirements/${index}/${field}`, message }];
    return [
      {
        pointer: "#/requirements",
        message: `requires ${requirement.metric} in place ${index}, whose ${field} ${message}`,
      },
    ];
  });
}

/** Field of a requirement that prevents its measurement, and the reason; null if it is measured. */
function explainUnmeasured(
  { metric, scenario, path }: Requirement,
  { subject, scenarios, paths }: Asked,
): readonly [keyof Requirement, string] | null {
  if (subject.kind === "kernel" && OF_MODELS.has(metric)) return ["metric", "belongs to models"];
  const measuring = SCENARIOS_OF[metric];
  if (measuring === undefined) {
    if (scenario !== undefined) return ["scenario", `has no part in ${metric}`];
    return path === undefined ? null : ["path", `has no part in ${metric}`];
  }
  if (path !== undefined && !paths.includes(path)) return ["path", "is not one of the job's paths"];
  const kinds = scenarios.map(({ kind }) => kind);
  if (scenario === undefined) {
    const isMeasured = kinds.some((kind) => measuring.includes(kind));
    return isMeasured ? null : ["metric", `needs a scenario that is ${measuring.join(" or ")}`];
  }
  if (!measuring.includes(scenario)) return ["scenario", `must be ${measuring.join(" or ")} for ${metric}`];
  return kinds.includes(scenario) ? null : ["scenario", "is not one of the job's scenarios"];
}

/** Fills in the requirements of a named set, and for a model its runner and present serving configuration. */
export async function prepareValidation(
  input: InputOf<ValidationSpec>,
  surroundings: JobSurroundings,
): Promise<Prepared<ValidationSpec>> {
  const named = await readRequirements(input, surroundings);
  const spec: ValidationSpec = { ...input, ...named.fields };
  const errors = [...named.errors, ...checkRequirements(spec), ...checkTimeout(spec)];
  const subject = await (spec.subject.kind === "model"
    ? placeModel(spec, surroundings)
    : checkKernel(spec, surroundings));
  return { spec: subject.spec, errors: [...errors, ...subject.errors] };
}

type Requirements = Pick<ValidationSpec, "requirements" | "requirementSet">;

/** A job's requirements, with the name of their set if they have one. */
async function readRequirements(
  { requirements }: InputOf<ValidationSpec>,
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

function checkTimeout({ scenarios, paths, timeoutMs }: ValidationSpec): FieldError[] {
  const leastMs = paths.length * scenarios.reduce((sum, scenario) => sum + leastMsOf(scenario), 0);
  if (leastMs < timeoutMs) return [];
  return [{ pointer: "#/timeoutMs", message: `must be longer than the scenarios together, ${leastMs} ms` }];
}

async function placeModel(spec: ValidationSpec, surroundings: JobSurroundings): Promise<Prepared<ValidationSpec>> {
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

async function checkKernel(
  spec: ValidationSpec,
  { candidates, announced }: JobSurroundings,
): Promise<Prepared<ValidationSpec>> {
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
