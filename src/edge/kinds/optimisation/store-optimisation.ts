import { isSameConfiguration } from "../../../protocol/fleet/serving.ts";
import type { SeriesKey } from "../../../protocol/history/series.ts";
import type { OptimisationResult, OptimisationSpec, OptimisationTargets } from "../../../protocol/jobs/optimisation.ts";
import type { ValidationResult } from "../../../protocol/jobs/validation.ts";
import type { Requirement } from "../../../protocol/models/requirement.ts";
import type { ProjectEnv } from "../../config.ts";
import { openProject, type ProjectDatabase } from "../../store/database.ts";
import { applyConfiguration, findPlacement, readMeasuredPlaces } from "../../store/fleet/placement-store.ts";
import { appendMeasurements, type Measurement } from "../../store/history/point-store.ts";
import { findModelVersion } from "../../store/models/model-store.ts";
import type { RunContext, StoredRun } from "../kind.ts";
import { validatedBy } from "../subjects/placed-subject.ts";
import { pointsOf } from "../subjects/run-points.ts";

/**
 * A search's points in the history: throughput and latency of its best trial, by the search's targets. `subject` is the
 * kernel, or the model with its version. None if no best trial was found.
 */
function measureOptimisation(
  { subject: asked, objective, targets, trials, best, environment }: OptimisationResult,
  subject: string,
  run: RunContext,
): Measurement[] {
  const trial = best === null ? undefined : trials[best];
  if (trial === undefined) return [];
  const { throughputPerS, latencyMs } = trial;
  const point = pointsOf(run, {
    subjectKind: asked.kind,
    subject,
    configuration: {
      ...(asked.kind === "kernel" ? asked.shape : {}),
      device: environment.deviceName,
      objective,
      ...describeTargets(targets),
    },
    environment,
  });
  return [
    ...(throughputPerS === null ? [] : [point("optimisedPerS", "1/s", "higher", throughputPerS, "runner-wall")]),
    ...(latencyMs === null ? [] : [point("optimisedMs", "ms", "lower", latencyMs, "runner-wall")]),
  ];
}

/** Only the targets that are set: they change the meaning of the best. */
function describeTargets({ latencyMs, ...others }: OptimisationTargets): SeriesKey["configuration"] {
  const named = { ...others, boundMs: latencyMs };
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/**
 * Stores a search's best trial in the history and, if the runner applied it, its configuration with the placement.
 * Idempotent; a placement that was configured meanwhile stays as it is.
 */
export async function storeOptimisation(
  env: ProjectEnv,
  { runnerId, result }: StoredRun<OptimisationSpec>,
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
  // The placement may have been removed or, after a new file was added, measured by another backend.
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

/** Requirements of a validation; each has a verdict for each scenario that measures it. */
function requirementsOf({ verdicts }: ValidationResult): Requirement[] {
  return [...new Map(verdicts.map(({ requirement }) => [JSON.stringify(requirement), requirement])).values()];
}
