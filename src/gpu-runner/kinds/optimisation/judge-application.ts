import { isSameConfiguration, type ServingConfiguration } from "../../../protocol/fleet/serving.ts";
import type { Candidate, OptimisationSpec, OptimisationTrial } from "../../../protocol/jobs/optimisation.ts";
import type { ValidationResult, ValidationSpec } from "../../../protocol/jobs/validation.ts";
import type { Requirement } from "../../../protocol/models/requirement.ts";
import type { Scenario, ScenarioResult } from "../../../protocol/models/scenario.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";

/** A variant on a device under a configuration. */
export interface ServedPlace extends Pick<Candidate, "deviceKey" | "backend" | "variant"> {
  readonly configuration: ServingConfiguration;
}

/** Difference between two validations of the same service, as a share of the worse. */
const NOISE = 0.05;

/** Whether both are the same place under the same configuration. */
export function isServedSo(standing: ServedPlace, found: ServedPlace): boolean {
  return isSamePlace(standing, found) && isSameConfiguration(standing.configuration, found.configuration);
}

/**
 * Whether to apply the configuration that was found, with the reason in words.
 * It must reach every target in the later validation, and be no worse than the earlier one by the objective, within
 * noise.
 */
export function judgeApplication(
  standing: ServedPlace,
  found: ServedPlace,
  { objective, targets }: Pick<OptimisationSpec, "objective" | "targets">,
  { before, after }: { readonly before: ValidationResult; readonly after: ValidationResult },
): { readonly applies: boolean; readonly detail: string } {
  const no = (detail: string) => ({ applies: false, detail: detail.slice(0, 512) });
  const missed = after.verdicts.find(({ outcome }) => outcome !== "pass");
  if (missed !== undefined) return no(`Not applied: the validation after does not bear it out. ${missed.detail}`);
  const [was, is] = [before, after].map((result) => valueOf(result, objective, targets.percentile));
  if (was != null && (is == null || is < was * (1 - NOISE))) {
    return no(
      `Not applied: by its validation it is worse than before, ${format(is ?? 0)} where that had ${format(was)}.`,
    );
  }
  if (isSamePlace(standing, found)) {
    return { applies: true, detail: "Applied: the placement is served by it from now on." };
  }
  const { variant, backend, deviceKey } = found;
  return {
    applies: true,
    detail: `Applied to the placement of ${variant} by ${backend} on ${deviceKey}. That is another than requests got when the search began: they get it where they name it, or where fidelity and predicted time put it first. The other placement stays as it is.`,
  };
}

function isSamePlace(one: ServedPlace, other: ServedPlace): boolean {
  return one.deviceKey === other.deviceKey && one.backend === other.backend && one.variant === other.variant;
}

/** Validated objective, where larger is better; null where it was not measured. */
function valueOf({ scenarios }: ValidationResult, objective: OptimisationSpec["objective"], percentile: number) {
  const of = (kind: ScenarioResult["scenario"]["kind"]) => scenarios.find(({ scenario }) => scenario.kind === kind);
  if (objective === "throughput") return of("offline")?.samplesPerS ?? null;
  const ms = of("singleStream")?.percentiles.find((each) => each.percentile === percentile)?.ms;
  return ms === undefined ? null : 1_000 / ms;
}

function format(value: number): string {
  return `${Number(value.toPrecision(3))}/s`;
}

/** Length of a scenario: a share of the search's budget, within bounds. */
const SHARE = 1 / 30;
const SCENARIO_MS = { least: 300, most: 2_000 };
const TIMEOUT_MS = 120_000;

/**
 * Validation that confirms the targets: single queries and an offline batch.
 * Where both latency and throughput are wanted, it adds arrivals at that rate within that latency.
 */
export function listValidation(
  spec: OptimisationSpec,
  { deviceKey, backend, variant, configuration }: ServedPlace,
  placementId: string | null,
  fidelity: OptimisationTrial["fidelity"],
): Omit<ValidationSpec, "label"> {
  const { subject, targets, budgetMs, seed, modelVersionId } = spec;
  if (subject.kind !== "model") throw new TypeError("only models are served");
  if (backend === "edge-wasm") throw new TypeError("no search is done at the edge");
  const minDurationMs = Math.round(Math.min(SCENARIO_MS.most, Math.max(SCENARIO_MS.least, budgetMs * SHARE)));
  const { latencyMs, throughputPerS, percentile } = targets;
  const scenarios: Scenario[] = [
    { kind: "singleStream", percentile, minDurationMs },
    { kind: "offline", minDurationMs },
  ];
  if (latencyMs !== undefined && throughputPerS !== undefined) {
    const boundMs = Math.min(LIMITS.maxBudgetMs, Math.max(LIMITS.minBudgetMs, latencyMs));
    scenarios.push({ kind: "server", percentile, boundMs, ratePerS: throughputPerS, confirmations: 1, minDurationMs });
  }
  return {
    kind: "validation",
    subject: { ...subject, variant, backend },
    deviceKey,
    configuration,
    ...(modelVersionId !== undefined && { modelVersionId }),
    ...(placementId !== null && { placementId }),
    fidelity,
    scenarios,
    requirements: listRequirements(targets),
    paths: ["runner"],
    seed,
    timeoutMs: TIMEOUT_MS,
  };
}

/** Targets as requirements; latency is that of the server scenario where there is one, else of single queries. */
function listRequirements({
  latencyMs,
  throughputPerS,
  memoryBytes,
  minFidelity,
  percentile,
}: OptimisationSpec["targets"]) {
  const requirements: Requirement[] = [];
  if (latencyMs !== undefined) {
    const scenario = throughputPerS === undefined ? "singleStream" : "server";
    requirements.push({ metric: "latencyMs", percentile, scenario, atMost: latencyMs });
  }
  if (throughputPerS !== undefined) {
    requirements.push({ metric: "throughputPerS", scenario: "offline", atLeast: throughputPerS });
  }
  if (memoryBytes !== undefined) requirements.push({ metric: "memoryBytes", atMost: memoryBytes });
  if (minFidelity > 0) requirements.push({ metric: "fidelity", atLeast: minFidelity });
  return requirements;
}
