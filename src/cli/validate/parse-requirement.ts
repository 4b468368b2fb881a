import { InvalidArgumentError } from "commander";
import { RequiredMetric, type Requirement } from "../../protocol/requirement.ts";
import { ScenarioKind } from "../../protocol/scenario.ts";
import { percentileOption } from "../options/percentile-option.ts";

const REQUIREMENT =
  /^\s*(?<metric>\w+)(?:\s+(?<percentile>p[\d.]+))?\s*(?<relation><=|>=)\s*(?<bound>\d+(?:\.\d+)?(?:e-?\d+)?)(?:\s+in\s+(?<scenario>\w+))?\s*$/;

/** Reads a requirement: `latencyMs p99 <= 10`, `throughputPerS >= 100 in offline`. */
export function parseRequirement(text: string): Requirement {
  const found = REQUIREMENT.exec(text)?.groups;
  if (found === undefined) throw new InvalidArgumentError('must be such as "latencyMs p99 <= 10".');
  const { percentile, relation, bound, scenario } = found;
  const metric = RequiredMetric.safeParse(found["metric"]);
  if (!metric.success) throw new InvalidArgumentError(`measures one of ${RequiredMetric.options.join(", ")}.`);
  const kind = scenario === undefined ? undefined : ScenarioKind.safeParse(scenario);
  if (kind?.success === false) throw new InvalidArgumentError(`knows ${ScenarioKind.options.join(", ")} as scenarios.`);
  if (percentile !== undefined && metric.data !== "latencyMs") {
    throw new InvalidArgumentError("takes a percentile of latencyMs alone.");
  }
  return {
    metric: metric.data,
    ...(percentile !== undefined && { percentile: percentileOption(percentile) }),
    ...(kind !== undefined && { scenario: kind.data }),
    ...(relation === "<=" ? { atMost: Number(bound) } : { atLeast: Number(bound) }),
  };
}
