import type { FieldError } from "../../protocol/problem.ts";
import { type RequiredMetric, type Requirement, SCENARIOS_OF } from "../../protocol/requirement.ts";
import type { ValidationSpec } from "../../protocol/validation.ts";

type Asked = Pick<ValidationSpec, "subject" | "scenarios" | "paths" | "requirements" | "requirementSet">;

/** What only a model has. */
const OF_MODELS: ReadonlySet<RequiredMetric> = new Set(["artifactBytes", "fidelity"]);

/** What is required and would not be measured by a validation, so that nothing could be said of it. */
export function checkRequirements(asked: Asked): FieldError[] {
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

/** The field of a requirement that is in the way, and why; null where it is measured. */
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
