import type { ValidationResult, ValidationSpec } from "../../../protocol/jobs/validation.ts";
import type { Placement } from "../../../protocol/models/model.ts";
import type { Requirement } from "../../../protocol/models/requirement.ts";
import type { Distribution } from "../../../protocol/wire/distribution.ts";
import { toInstant } from "../../clock.ts";
import type { Database } from "../../store/database.ts";
import { readMeasuredPlaces } from "../../store/fleet/placement-store.ts";
import { findAnyVersion, toPlacedModel } from "../../store/models/model-store.ts";
import type { OfferContext, RunContext } from "../kind.ts";

type Subject = Pick<ValidationSpec, "subject" | "modelVersionId">;

/** A job's model, with the serving configuration of each of its places on the runner; none for a kernel. */
export async function offerPlaced(db: Database, { modelVersionId }: Subject, runnerId: string): Promise<OfferContext> {
  const version = modelVersionId === undefined ? null : await findAnyVersion(db, modelVersionId);
  if (version === null) return { model: null };
  return { model: toPlacedModel(version, await readMeasuredPlaces(db, runnerId, version.id)) };
}

/** Whether a result's subject is that of its job. */
export function isAbout(
  spec: Subject,
  { subject, modelVersionId }: Pick<ValidationResult, "subject" | "modelVersionId">,
): boolean {
  if (spec.subject.kind === "model") return subject.kind === "model" && modelVersionId === spec.modelVersionId;
  return subject.kind === "kernel" && subject.kernel === spec.subject.kernel;
}

/** The latencies of a validation's scenarios. */
export function latenciesOf({ scenarios }: Pick<ValidationResult, "scenarios">): Distribution[] {
  return scenarios.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs]));
}

/** The part of a validation that a placement stores. */
export function validatedBy(
  { verdict, scenarios }: ValidationResult,
  requirements: Requirement[],
  { runId, atMs }: RunContext,
): NonNullable<Placement["validated"]> {
  const singleStream = scenarios.find(({ scenario, path }) => scenario.kind === "singleStream" && path === "runner");
  return { runId, at: toInstant(atMs), verdict, serviceMs: singleStream?.latencyMs ?? null, requirements };
}
