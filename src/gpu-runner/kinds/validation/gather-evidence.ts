import type { Requirement } from "../../../protocol/models/requirement.ts";
import type { RateTrial, ScenarioResult } from "../../../protocol/models/scenario.ts";
import type { ValidationResult } from "../../../protocol/jobs/validation.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { binomialCdf, binomialInterval } from "../../../stats/distribution/intervals.ts";
import { countAbove } from "../../../stats/distribution/read-sketch.ts";
import { queriesToTell, STOPPING_CONFIDENCE } from "../../../stats/sequential/early-stopping.ts";
import { studentTQuantile } from "../../../stats/distribution/student-t.ts";
import {
  describeCount,
  describeMeasure,
  describeShare,
  type Evidence,
  nameMetric,
  namePercentile,
} from "./describe-measure.ts";

/** Measurements before they are judged. */
export type MeasuredValidation = Omit<ValidationResult, "verdict" | "verdicts">;

/** Percentile of a latency requirement that names none. */
export const DEFAULT_PERCENTILE = 0.99;

/** Evidence for a requirement, one piece per scenario and path; a single empty piece where there is none. */
export function gatherEvidence(requirement: Requirement, measured: MeasuredValidation): Evidence[] {
  const { metric } = requirement;
  switch (metric) {
    case "latencyMs":
      return ofScenarios(requirement, measured, isLatencyOf, (result) =>
        latencyOf(result, requirement.percentile ?? DEFAULT_PERCENTILE),
      );
    case "throughputPerS":
      return ofScenarios(requirement, measured, () => true, throughputOf);
    case "errorRate":
      return ofScenarios(requirement, measured, () => true, errorRateOf);
    case "memoryBytes":
      return [valueOf(metric, measured.memory.hostPeakBytes, "the runner cannot read it")];
    case "gpuMemoryBytes":
      return [valueOf(metric, measured.memory.gpuPeakBytes, "the device does not tell it")];
    case "startupMs":
      return [valueOf(metric, measured.startup.loadMs + measured.startup.firstAnswerMs, "")];
    case "artifactBytes":
      return [valueOf(metric, measured.artifactBytes, "it has no artifact")];
    case "fidelity":
      return [valueOf(metric, measured.fidelity, "nobody measured it")];
  }
}

/** The latency of an offline scenario's one query only reflects its chosen size. */
const isLatencyOf = ({ scenario }: ScenarioResult) => scenario.kind !== "offline";

function ofScenarios(
  { metric, scenario, path }: Requirement,
  { scenarios }: MeasuredValidation,
  measures: (result: ScenarioResult) => boolean,
  gather: (result: ScenarioResult) => Omit<Evidence, "metric" | "scenario" | "path">,
): Evidence[] {
  const about = scenarios.filter(
    (result) =>
      measures(result) &&
      (scenario === undefined || scenario === result.scenario.kind) &&
      (path === undefined || path === result.path),
  );
  if (about.length === 0) {
    const named = [scenario === undefined ? "no scenario" : `no ${scenario} scenario`, path && `on the ${path} path`];
    const why = `${named.filter(Boolean).join(" ")} that measures it was run`;
    return [{ ...nothing(nameMetric(metric), why), metric, scenario: scenario ?? null, path: path ?? null }];
  }
  return about.map((result) => ({ ...gather(result), metric, scenario: result.scenario.kind, path: result.path }));
}

type Finding = Omit<Evidence, "metric" | "scenario" | "path">;

function nothing(what: string, why: string): Finding {
  const found = `There is no ${what}: ${why}`;
  return { measured: null, low: null, high: null, found, wanted: () => "It has to be measured first" };
}

/** Evidence from one exact number, without sampling error. */
function valueOf(metric: Requirement["metric"], value: number | null, why: string): Evidence {
  const place = { metric, scenario: null, path: null };
  if (value === null) return { ...nothing(nameMetric(metric), why), ...place };
  const found = `The ${nameMetric(metric)} was ${describeMeasure(metric, value)}`;
  return { ...place, measured: value, low: value, high: value, found, wanted: () => "" };
}

function latencyOf(result: ScenarioResult, percentile: number): Finding {
  const { queries, errors, percentiles } = result;
  const name = namePercentile(percentile);
  const known = percentiles.find((each) => each.percentile === percentile);
  const wanted = (bound: number) => wantQueries(result, percentile, bound);
  if (known !== undefined) {
    const { ms, lowMs, highMs } = known;
    const found = `The ${name} of ${describeCount(queries, "query", "queries")} was ${describeMeasure("latencyMs", ms)}`;
    return { measured: ms, low: lowMs, high: highMs, found, wanted };
  }
  if (errors === 0) return nothing(name, queries === 0 ? "no query was sent in time" : "it was not asked for");
  const { low } = binomialInterval(errors, queries, STOPPING_CONFIDENCE);
  const found = `There is no ${name}: ${errors} of ${describeCount(queries, "query", "queries")} failed`;
  // Where more queries fail than may be over, the percentile is beyond any bound.
  return { measured: null, low: low > 1 - percentile ? Number.POSITIVE_INFINITY : null, high: null, found, wanted };
}

/** Number of queries needed for a decision, if the same share of them stays over the bound. */
function wantQueries({ queries, errors, latencyMs }: ScenarioResult, percentile: number, bound: number): string {
  const slow = latencyMs === null ? 0 : countAbove(latencyMs.sketch, bound);
  const share = (slow + errors) / Math.max(1, queries);
  const needed = queriesToTell(percentile, share, LIMITS.scenarioQueries);
  const over = `${describeShare(share)} of them were over ${describeMeasure("latencyMs", bound)}`;
  if (!Number.isFinite(needed)) return `${over}, which is too near to tell with any number of queries`;
  const enough = describeCount(Math.max(needed, queries + 1), "query", "queries");
  return `${over}: if that stays so, about ${enough} would tell`;
}

function errorRateOf({ queries, errors, errorCodes }: ScenarioResult): Finding {
  if (queries === 0) return nothing("error rate", "no query was sent in time");
  const codes = Object.entries(errorCodes).map(([code, count]) => `${code} ${count}`);
  const why = codes.length === 0 ? "" : ` (${codes.slice(0, 4).join(", ")})`;
  return {
    measured: errors / queries,
    ...binomialInterval(errors, queries, STOPPING_CONFIDENCE),
    found: `${errors} of ${describeCount(queries, "query", "queries")} failed${why}`,
    wanted: (bound) => {
      if (bound <= 0 || bound >= 1) return "No number of queries can tell it for certain";
      const needed = queriesToTell(1 - bound, errors / queries, LIMITS.scenarioQueries);
      if (!Number.isFinite(needed)) return "It is too near to tell with any number of queries";
      const enough = describeCount(Math.max(needed, queries + 1), "query", "queries");
      return `If the rate stays so, about ${enough} would tell`;
    },
  };
}

function throughputOf(result: ScenarioResult): Finding {
  if (result.server !== null) return highestRateOf(result, result.server);
  const { samplesPerS, samples, durationMs, latencyMs, queries, errors } = result;
  if (latencyMs === null)
    return nothing("throughput", queries === 0 ? "no query was sent in time" : "no query was answered");
  const took = describeMeasure("latencyMs", durationMs);
  const found = `${describeCount(samples, "sample")} took ${took}, ${describeMeasure("throughputPerS", samplesPerS)}`;
  const wanted = () => "A longer run would tell";
  if (result.scenario.kind === "offline")
    return { measured: samplesPerS, low: samplesPerS, high: samplesPerS, found, wanted };
  const answered = queries - errors;
  if (answered < 2) return { measured: samplesPerS, low: null, high: null, found, wanted };
  // One query follows the other, so the throughput's interval is that of their mean time, by Student's t.
  const deviate = studentTQuantile(STOPPING_CONFIDENCE, answered - 1);
  const reach = (deviate * latencyMs.standardDeviation) / (latencyMs.mean * Math.sqrt(answered));
  return {
    measured: samplesPerS,
    low: samplesPerS / (1 + reach),
    high: reach < 1 ? samplesPerS / (1 - reach) : null,
    found,
    wanted,
  };
}

/** The highest rate that held, and the lowest above it that significantly failed. */
function highestRateOf({ scenario }: ScenarioResult, server: NonNullable<ScenarioResult["server"]>): Finding {
  const { highestRatePerS, boundMs, curve } = server;
  const percentile = "percentile" in scenario ? scenario.percentile : DEFAULT_PERCENTILE;
  const perS = (rate: number) => describeMeasure("throughputPerS", rate);
  const highestHeld = curve.reduce((most, { holds, ratePerS }) => (holds ? Math.max(most, ratePerS) : most), 0);
  const lost = curve.filter((trial) => !trial.holds && isSurelyOver(trial, percentile));
  const above = lost.map(({ ratePerS }) => ratePerS).filter((rate) => rate > highestHeld);
  const high = above.length === 0 ? null : Math.min(...above);
  const kept = `${namePercentile(percentile)} within ${describeMeasure("latencyMs", boundMs)}`;
  const held =
    highestRatePerS === null ? `No rate kept ${kept} as often as it had to` : `${perS(highestRatePerS)} kept ${kept}`;
  return {
    measured: highestRatePerS,
    low: highestRatePerS,
    high,
    isBelowHigh: true,
    found: high === null ? held : `${held}, ${perS(high)} did not`,
    wanted: () => (high === null ? "Higher rates, or longer runs, have to be tried" : "Rates between have to be tried"),
  };
}

/** Whether the number of queries under latency is significantly too small for the percentile. */
function isSurelyOver({ queries, overLatency }: RateTrial, percentile: number): boolean {
  return binomialCdf(queries - overLatency, queries, percentile) < 1 - STOPPING_CONFIDENCE;
}
