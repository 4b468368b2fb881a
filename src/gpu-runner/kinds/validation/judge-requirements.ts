import type { ValidationResult, ValidationSpec } from "../../../protocol/jobs/validation.ts";
import type { Requirement, Verdict } from "../../../protocol/models/requirement.ts";
import type { WorkloadResult } from "../kind.ts";
import { writeSamples } from "../steps/describe-run.ts";
import { describeMeasure, describeShare, type Evidence } from "./describe-measure.ts";
import { gatherEvidence, type MeasuredValidation } from "./gather-evidence.ts";
import type { ScenarioRun } from "./run-scenario.ts";

/**
 * Judges measurements by the requirements: one verdict per requirement, scenario and path.
 * A sampled value passes only if the far bound of its interval meets the requirement, and fails only if the near bound
 * misses it.
 * Each bound has a confidence of 0.99. Missing measurements are insufficient.
 */
export function judgeRequirements(
  requirements: readonly Requirement[],
  measured: MeasuredValidation,
): { verdict: ValidationResult["verdict"]; verdicts: Verdict[] } {
  const verdicts = requirements.flatMap((requirement) =>
    gatherEvidence(requirement, measured).map((evidence) => judge(requirement, evidence)),
  );
  const outcomes = new Set(verdicts.map(({ outcome }) => outcome));
  const verdict = outcomes.has("fail") ? "fail" : outcomes.has("insufficient") ? "insufficient" : "pass";
  return { verdict, verdicts };
}

function judge(requirement: Requirement, evidence: Evidence): Verdict {
  const { scenario, path, measured, low, high } = evidence;
  const isUpper = requirement.atMost !== undefined;
  const bound = requirement.atMost ?? requirement.atLeast ?? 0;
  const outcome = isUpper ? judgeAtMost(evidence, bound) : judgeAtLeast(evidence, bound);
  const left = measured === null ? null : isUpper ? bound - measured : measured - bound;
  return {
    requirement,
    scenario,
    path,
    outcome,
    measured,
    low: finite(low),
    high: finite(high),
    margin: left === null || bound === 0 ? null : left / bound,
    detail: explain(evidence, outcome, bound, isUpper),
  };
}

function judgeAtMost({ low, high }: Evidence, bound: number): Verdict["outcome"] {
  if (high !== null && high <= bound) return "pass";
  return low !== null && low > bound ? "fail" : "insufficient";
}

function judgeAtLeast({ low, high, isBelowHigh = false }: Evidence, bound: number): Verdict["outcome"] {
  if (low !== null && low >= bound) return "pass";
  return high !== null && (high < bound || (isBelowHigh && high === bound)) ? "fail" : "insufficient";
}

/** `The p99 of 662 queries was 7.42 ms, surely within 7.01 and 8.1 ms. 10 ms are kept, with 25.8 % to spare.` */
function explain(evidence: Evidence, outcome: Verdict["outcome"], bound: number, isUpper: boolean): string {
  const { metric, measured, found, wanted } = evidence;
  const asked = `${isUpper ? "At most" : "At least"} ${describeMeasure(metric, bound)} is required`;
  const first = `${found}${describeInterval(evidence)}.`;
  if (outcome === "insufficient") return `${first} ${asked}. ${wanted(bound)}.`;
  if (measured === null || bound === 0) return `${first} ${asked}.`;
  const share = describeShare(Math.abs(measured - bound) / bound);
  return `${first} ${asked}: ${outcome === "pass" ? `kept, with ${share} to spare` : `missed by ${share}`}.`;
}

function describeInterval({ metric, low, high, measured, isBelowHigh = false }: Evidence): string {
  // One exact number, or a rate whose bounds are already in the text.
  if (measured === null || isBelowHigh || (low === measured && high === measured)) return "";
  const least = low === null ? null : `at least ${describeMeasure(metric, low)}`;
  const most = high === null ? null : `at most ${describeMeasure(metric, high)}`;
  const told = [least, most].filter((bound) => bound !== null);
  if (told.length === 0) return ", of too few queries to say how sure that is";
  return `, ${told.join(" and ")} with 99 % confidence${told.length === 2 ? " each" : ""}`;
}

function finite(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null;
}

/** Measurements beside the scenarios. */
type Beside = Omit<ValidationResult, "kind" | "subject" | "modelVersionId" | "scenarios" | "verdict" | "verdicts">;

/** Judges the measurements, and stores the latencies of every answered query beside the result. */
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

/** Rounded to a tenth of a microsecond, so that more of them fit. */
function roundMs(ms: number): number {
  return Math.round(ms * 1e4) / 1e4;
}
