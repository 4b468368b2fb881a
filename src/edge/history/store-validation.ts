import type { Placement } from "../../protocol/model.ts";
import type { Requirement } from "../../protocol/requirement.ts";
import type { ValidationResult } from "../../protocol/validation.ts";
import type { ProjectEnv } from "../config.ts";
import { openProject } from "../store/database.ts";
import { toInstant } from "../store/instant.ts";
import { findModelVersion } from "../store/model-store.ts";
import { saveValidated } from "../store/placement-store.ts";
import { appendMeasurements } from "../store/point-store.ts";
import type { RunInput } from "../store/run-store.ts";
import type { RunContext } from "./result-measurements.ts";
import { measureValidation } from "./validation-measurements.ts";

/**
 * Puts a validation into the history, and with the placement that it was of, unless that has been measured or
 * configured anew meanwhile. Doing it twice changes nothing.
 */
export async function storeValidation(
  env: ProjectEnv,
  { spec, runnerId }: RunInput,
  result: ValidationResult,
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
  if (spec.kind !== "validation" || place.placementId === null || place.configuration === null) return;
  await saveValidated(db, runnerId, place.placementId, {
    configuration: place.configuration,
    fingerprint: result.environment.fingerprint,
    validated: validatedBy(result, spec.requirements, run),
  });
}

/** What a placement keeps of a validation. */
export function validatedBy(
  { verdict, scenarios }: ValidationResult,
  requirements: Requirement[],
  { runId, atMs }: RunContext,
): NonNullable<Placement["validated"]> {
  const single = scenarios.find(({ scenario, path }) => scenario.kind === "singleStream" && path === "runner");
  return { runId, at: toInstant(atMs), verdict, serviceMs: single?.latencyMs ?? null, requirements };
}
