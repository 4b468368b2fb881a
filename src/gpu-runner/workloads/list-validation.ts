import { LIMITS } from "../../protocol/limits.ts";
import type { OptimisationSpec, OptimisationTrial } from "../../protocol/optimisation.ts";
import type { Requirement } from "../../protocol/requirement.ts";
import type { Scenario } from "../../protocol/scenario.ts";
import type { ValidationSpec } from "../../protocol/validation.ts";
import type { ServedPlace } from "./judge-application.ts";

/** Of a scenario: a share of the search's budget, within bounds. */
const SHARE = 1 / 30;
const SCENARIO_MS = { least: 300, most: 2_000 };
const TIMEOUT_MS = 120_000;

/**
 * The validation that bears targets out: single queries and everything at once, and where both latency and throughput
 * are wanted, arrivals at that rate within that latency.
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

/** Targets as requirements: what is in flight at once is the server scenario's business where there is one. */
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
