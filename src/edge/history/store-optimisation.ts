import type { OptimisationResult } from "../../protocol/optimisation.ts";
import type { Requirement } from "../../protocol/requirement.ts";
import { isSameConfiguration } from "../../protocol/serving-configuration.ts";
import type { ValidationResult } from "../../protocol/validation.ts";
import type { ProjectEnv } from "../config.ts";
import { openProject, type ProjectDatabase } from "../store/database.ts";
import { findModelVersion } from "../store/model-store.ts";
import { applyConfiguration, findPlacement, readMeasuredPlaces } from "../store/placement-store.ts";
import { appendMeasurements } from "../store/point-store.ts";
import type { RunInput } from "../store/run-store.ts";
import { measureOptimisation } from "./optimisation-measurements.ts";
import type { RunContext } from "./result-measurements.ts";
import { validatedBy } from "./store-validation.ts";

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
