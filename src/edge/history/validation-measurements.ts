import type { Clock } from "../../protocol/distribution.ts";
import type { JobSubject } from "../../protocol/job-subject.ts";
import type { Scenario, ScenarioResult } from "../../protocol/scenario.ts";
import type { SeriesKey } from "../../protocol/series.ts";
import { DEFAULT_CONFIGURATION, type ServingConfiguration } from "../../protocol/serving-configuration.ts";
import type { ValidationResult } from "../../protocol/validation.ts";
import type { Aggregate } from "../../stats/distribution.ts";
import type { Measurement } from "../store/point-store.ts";
import { type RunContext, single, toAggregate } from "./result-measurements.ts";

type Validated = Pick<ValidationResult, "subject" | "place" | "scenarios" | "environment">;

/** Both paths are timed on the runner. */
const CLOCK: Clock = "runner-wall";

/**
 * What a validation leaves in the history, by scenario and path. `subject` is the kernel, or the model with its
 * version. The latencies of an offline scenario are those of its parts, and those of a searched rate follow from the
 * bound: neither says how fast the subject is.
 */
export function measureValidation(result: Validated, subject: string, run: RunContext): Measurement[] {
  return result.scenarios.flatMap((measured) => measureScenario(result, measured, subject, run));
}

function measureScenario(
  { subject: asked, place, environment }: Validated,
  measured: ScenarioResult,
  subject: string,
  run: RunContext,
): Measurement[] {
  const { scenario, path, latencyMs, earlyStopping, samplesPerS, server } = measured;
  const configuration: SeriesKey["configuration"] = {
    ...describeSubject(asked),
    variant: place.variant,
    backend: place.backend,
    device: environment.deviceName,
    path,
    ...describeScenario(scenario),
    ...describeServing(place.configuration),
  };
  const { fingerprint, software } = environment;
  const base = {
    subjectKind: asked.kind,
    subject,
    clock: CLOCK,
    configuration,
    fingerprint,
    software,
    label: run.label,
  };
  const point = (metric: string, unit: string, direction: SeriesKey["direction"], aggregate: Aggregate) => ({
    key: { ...base, metric, unit, direction },
    atMs: run.atMs,
    project: run.project,
    sourceId: run.runId,
    runId: run.runId,
    aggregate,
  });
  const highest = server?.highestRatePerS ?? null;
  const estimateMs = earlyStopping?.estimateMs ?? null;
  const isTimed = latencyMs !== null && scenario.kind !== "offline" && server?.searched !== true;
  return [
    ...(isTimed ? [point("latencyMs", "ms", "lower", toAggregate(latencyMs))] : []),
    ...(estimateMs === null ? [] : [point("estimateMs", "ms", "lower", single(estimateMs))]),
    ...(server === null ? [point("samplesPerS", "1/s", "higher", single(samplesPerS))] : []),
    ...(highest === null ? [] : [point("highestRatePerS", "1/s", "higher", single(highest))]),
  ];
}

/** Shape and type of a kernel; a model has its version for a name. */
function describeSubject(subject: JobSubject): SeriesKey["configuration"] {
  if (subject.kind === "model") return {};
  const { shape, dtype } = subject;
  return { ...shape, ...(dtype === undefined ? {} : { dtype }) };
}

/** What of a scenario changes what its figures mean. */
function describeScenario(scenario: Scenario): SeriesKey["configuration"] {
  switch (scenario.kind) {
    case "singleStream":
      return { scenario: scenario.kind, percentile: scenario.percentile };
    case "multiStream": {
      const { kind, percentile, samplesPerQuery } = scenario;
      return { scenario: kind, percentile, samplesPerQuery };
    }
    case "server": {
      const { kind, percentile, boundMs, ratePerS } = scenario;
      return { scenario: kind, percentile, boundMs, ...(ratePerS === undefined ? {} : { ratePerS }) };
    }
    case "offline":
      return { scenario: scenario.kind };
  }
}

/** Threads always; caps where there are any, so that series of those without go on. */
function describeServing(configuration: ServingConfiguration | null): SeriesKey["configuration"] {
  if (configuration === null) return {};
  const { threads, maxRows, maxInFlight } = { ...DEFAULT_CONFIGURATION, ...configuration };
  return {
    threads,
    ...(maxRows === null ? {} : { maxRows }),
    ...(maxInFlight === null ? {} : { maxInFlight }),
  };
}
