import { DEFAULT_CONFIGURATION, type ServingConfiguration } from "../../../protocol/fleet/serving.ts";
import type { SeriesKey } from "../../../protocol/history/series.ts";
import type { JobSubject } from "../../../protocol/jobs/job-fields.ts";
import type { ValidationResult, ValidationSpec } from "../../../protocol/jobs/validation.ts";
import type { Scenario, ScenarioResult } from "../../../protocol/models/scenario.ts";
import type { Clock } from "../../../protocol/wire/distribution.ts";
import type { ProjectEnv } from "../../config.ts";
import { openProject } from "../../store/database.ts";
import { saveValidated } from "../../store/fleet/placement-store.ts";
import { appendMeasurements, type Measurement } from "../../store/history/point-store.ts";
import { findModelVersion } from "../../store/models/model-store.ts";
import type { RunContext, StoredRun } from "../kind.ts";
import { validatedBy } from "../subjects/placed-subject.ts";
import { pointsOf } from "../subjects/run-points.ts";

type Validated = Pick<ValidationResult, "subject" | "place" | "scenarios" | "environment">;

/** Both paths are timed on the runner. */
const CLOCK: Clock = "runner-wall";

/**
 * A validation's points in the history, by scenario and path. `subject` is the kernel, or the model with its version.
 * Offline latencies are those of parts, and latencies of a searched rate follow from the bound: neither shows the
 * subject's speed.
 */
function measureValidation(result: Validated, subject: string, run: RunContext): Measurement[] {
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
  const point = pointsOf(run, { subjectKind: asked.kind, subject, configuration, environment });
  const highest = server?.highestRatePerS ?? null;
  const estimateMs = earlyStopping?.estimateMs ?? null;
  const isTimed = latencyMs !== null && scenario.kind !== "offline" && server?.searched !== true;
  return [
    ...(isTimed ? [point("latencyMs", "ms", "lower", latencyMs, CLOCK)] : []),
    ...(estimateMs === null ? [] : [point("estimateMs", "ms", "lower", estimateMs, CLOCK)]),
    ...(server === null ? [point("samplesPerS", "1/s", "higher", samplesPerS, CLOCK)] : []),
    ...(highest === null ? [] : [point("highestRatePerS", "1/s", "higher", highest, CLOCK)]),
  ];
}

/** Shape and type of a kernel; a model's version is part of its name. */
function describeSubject(subject: JobSubject): SeriesKey["configuration"] {
  if (subject.kind === "model") return {};
  const { shape, dtype } = subject;
  return { ...shape, ...(dtype === undefined ? {} : { dtype }) };
}

/** Settings of a scenario that change the meaning of its figures. */
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

/** Threads always; caps only if set, so that series without them continue. */
function describeServing(configuration: ServingConfiguration | null): SeriesKey["configuration"] {
  if (configuration === null) return {};
  const { threads, maxRows, maxInFlight } = { ...DEFAULT_CONFIGURATION, ...configuration };
  return {
    threads,
    ...(maxRows === null ? {} : { maxRows }),
    ...(maxInFlight === null ? {} : { maxInFlight }),
  };
}

/**
 * Stores a validation in the history and with its placement, unless that was measured or configured anew meanwhile.
 * Idempotent.
 */
export async function storeValidation(
  env: ProjectEnv,
  { spec, runnerId, result }: StoredRun<ValidationSpec>,
  run: RunContext,
): Promise<void> {
  const db = openProject(env);
  const { subject, modelVersionId, place } = result;
  if (subject.kind === "kernel") {
    await appendMeasurements(env.DB, measureValidation(result, subject.kernel, run));
    return;
  }
  const version = modelVersionId === null ? null : await findModelVersion(db, modelVersionId);
  if (version === null) return;
  await appendMeasurements(env.DB, measureValidation(result, `${version.model}@${version.version}`, run));
  if (place.placementId === null || place.configuration === null) return;
  await saveValidated(db, runnerId, place.placementId, {
    configuration: place.configuration,
    fingerprint: result.environment.fingerprint,
    validated: validatedBy(result, spec.requirements, run),
  });
}
