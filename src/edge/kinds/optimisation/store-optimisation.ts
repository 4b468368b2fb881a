import { isSameConfiguration } from "../../../protocol/fleet/serving.ts";
import type { SeriesKey } from "../../../protocol/history/series.ts";
import type { OptimisationResult, OptimisationTargets } from "../../../protocol/jobs/optimisation.ts";
import type { ValidationResult } from "../../../protocol/jobs/validation.ts";
import type { Requirement } from "../../../protocol/models/requirement.ts";
import type { ProjectEnv } from "../../config.ts";
import { openProject, type ProjectDatabase } from "../../store/database.ts";
import { applyConfiguration, findPlacement, readMeasuredPlaces } from "../../store/fleet/placement-store.ts";
import { appendMeasurements, type Measurement } from "../../store/history/point-store.ts";
import type { RunInput } from "../../store/history/run-store.ts";
import { findModelVersion } from "../../store/models/model-store.ts";
import { type RunContext, single } from "../result-measurements.ts";
import { validatedBy } from "../validation/store-validation.ts";

/**
 * What a search leaves in the history: throughput and latency of the best that it found, whichever that is, by what
 * it was to reach. `subject` is the kernel, or the model with its version. Nothing where it found none.
 */
function measureOptimisation(
  { subject: asked, objective, targets, trials, best, environment }: OptimisationResult,
  subject: string,
  run: RunContext,
): Measurement[] {
  const trial = best === null ? undefined : trials[best];
  if (trial === undefined) return [];
  const { throughputPerS, latencyMs } = trial;
  const key: Omit<SeriesKey, "metric" | "unit" | "direction"> = {
    subjectKind: asked.kind,
    subject,
    clock: "runner-wall",
    configuration: {
      ...(asked.kind === "kernel" ? asked.shape : {}),
      device: environment.deviceName,
      objective,
      ...describeTargets(targets),
    },
    fingerprint: environment.fingerprint,
    software: environment.software,
    label: run.label,
  };
  const point = (metric: string, unit: string, direction: SeriesKey["direction"], value: number | null) =>
    value === null
      ? []
      : [
          {
            key: { ...key, metric, unit, direction },
            project: run.project,
            atMs: run.atMs,
            sourceId: run.runId,
            runId: run.runId,
            aggregate: single(value),
          },
        ];
  return [
    ...point("optimisedPerS", "1/s", "higher", throughputPerS),
    ...point("optimisedMs", "ms", "lower", latencyMs),
  ];
}

/** Only those that there are: what is wanted changes what the best means. */
function describeTargets({ latencyMs, ...others }: OptimisationTargets): SeriesKey["configuration"] {
  const named = { ...others, boundMs: latencyMs };
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/**
 * Puts what a search found best into the history and, where the runner applied it, its configuration with its
 * placement. Doing it twice changes nothing; nor does it where somebody configured the placement meanwhile.
 */
export async function storeOptimisation(
  env: ProjectEnv,
  { runnerId }: RunInput,
  result: OptimisationResult,
  run: RunContext,
): Promise<void> {
  const db = openProject(env);
  const { subject, modelVersionId } = result;
  if (subject.kind === "kernel") {
    await appendMeasurements(env.DB, measureOptimisation(result, subject.kernel, run));
    return;
  }
  const version = modelVersionId === null ? null : await findModelVersion(db, modelVersionId);
  if (version === null) return;
  await appendMeasurements(env.DB, measureOptimisation(result, `${version.model}@${version.version}`, run));
  await apply(db, runnerId, version.id, result, run);
}

async function apply(
  db: ProjectDatabase,
  runnerId: string,
  versionId: string,
  { applied }: OptimisationResult,
  run: RunContext,
): Promise<void> {
  if (applied === null || !applied.applied || applied.placement === null || applied.configuration === null) return;
  const { placement: measured, configuration, before, after } = applied;
  const places = await readMeasuredPlaces(db, runnerId, versionId);
  const place = places.find((each) => each.deviceKey === measured.deviceKey && each.variant === measured.variant);
  const placement = place === undefined ? null : await findPlacement(db, place.placementId);
  // It may have been removed, and where a file was added since, measured by another backend.
  if (placement === null || placement.backend !== measured.backend) return;
  if (placement.validated?.runId === run.runId) return;
  const was = before?.place.placementId === placement.id ? before.place.configuration : null;
  if (was !== null && !isSameConfiguration(was, placement.configuration)) return;
  await applyConfiguration(db, placement.id, {
    configuration,
    measured,
    validated: after === null ? null : validatedBy(after, requirementsOf(after), run),
  });
}

/** What a validation was judged by: a requirement has a verdict for each scenario that measures it. */
function requirementsOf({ verdicts }: ValidationResult): Requirement[] {
  return [...new Map(verdicts.map(({ requirement }) => [JSON.stringify(requirement), requirement])).values()];
}
