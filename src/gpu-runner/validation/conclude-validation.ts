import type { ValidationResult, ValidationSpec } from "../../protocol/validation.ts";
import type { WorkloadResult } from "../workloads/workload.ts";
import { writeSamples } from "../workloads/write-samples.ts";
import { judgeRequirements } from "./judge-requirements.ts";
import type { ScenarioRun } from "./run-scenario.ts";

/** What was measured beside the scenarios. */
type Beside = Omit<ValidationResult, "kind" | "subject" | "modelVersionId" | "scenarios" | "verdict" | "verdicts">;

/** Judges what was measured, with the latencies of every query that was answered beside it. */
export function concludeValidation(spec: ValidationSpec, runs: readonly ScenarioRun[], beside: Beside): WorkloadResult {
  const { subject, modelVersionId = null, requirements } = spec;
  const scenarios = runs.map(({ result }) => result);
  const measured = { kind: "validation" as const, subject, modelVersionId, ...beside, scenarios };
  const timed = runs.map(({ result: { scenario, path }, latenciesMs }) => ({
    metric: `${path}.${scenario.kind}.latencyMs`,
    clock: "runner-wall" as const,
    valuesMs: latenciesMs.filter(Number.isFinite).map(roundMs),
  }));
  return {
    result: { ...measured, ...judgeRequirements(requirements, measured) },
    deviceKey: beside.place.deviceKey,
    samplesText: writeSamples(subject.kind === "model" ? subject.model : subject.kernel, timed),
  };
}

/** To a tenth of a microsecond, so that there is room for more of them. */
function roundMs(ms: number): number {
  return Math.round(ms * 1e4) / 1e4;
}
