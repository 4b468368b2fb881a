import type { CompressionResult } from "../../protocol/compression.ts";
import type { JobResult } from "../../protocol/job.ts";
import type { PlacementRule } from "../../protocol/placement-rule.ts";
import type { ProjectEnv } from "../config.ts";
import { compareSignatures } from "../onnx/compare-signatures.ts";
import { readStoredModel } from "../onnx/read-stored-model.ts";
import { openProject, type ProjectDatabase } from "../store/database.ts";
import { findJobArtifact } from "../store/job-artifact-store.ts";
import { findModelVersion } from "../store/model-store.ts";
import type { RunInput } from "../store/run-store.ts";
import { addVariant, noteFidelity } from "../store/variant-store.ts";

/** The result of a compression with what became of its file, and where the version is placed that has a new one. */
export interface PublishedVariant {
  readonly result: CompressionResult;
  readonly modelVersionId: string;
  /** Null where there is nothing new to measure. */
  readonly placement: PlacementRule | null;
}

type Publication = NonNullable<CompressionResult["publication"]>;

/**
 * Makes the file that a compression left a variant of its version, which says how it was made. Doing it twice changes
 * nothing: the same bytes are the same variant. Null where the job is none; a file that cannot be a variant is told in
 * the result, which counts all the same.
 */
export async function publishVariant(
  env: ProjectEnv,
  { jobId, spec }: Pick<RunInput, "jobId" | "spec">,
  result: JobResult,
): Promise<PublishedVariant | null> {
  if (spec.kind !== "compression" || result.kind !== "compression") return null;
  const db = openProject(env);
  const { modelVersionId } = spec;
  const version = await findModelVersion(db, modelVersionId);
  const artifact = await findJobArtifact(db, jobId, "variant");
  const file = artifact === null ? null : await readStoredModel(env.ARTIFACTS, artifact.digest);
  const fits = version !== null && file !== null && compareSignatures(version, file).length === 0;
  if (artifact === null || !fits || artifact.digest !== result.file.digest) {
    return { result: { ...result, publication: "unusable" }, modelVersionId, placement: null };
  }
  const { digest, sizeBytes } = artifact;
  const { summary } = file;
  const { fidelity: measured } = result;
  const made = { fidelity: measured.value, measured, summary, recipe: spec.recipe, jobId };
  const publication = await putVariant(db, { modelVersionId, name: spec.name, digest, sizeBytes, ...made });
  const placement = publication === "published" ? version.placement : null;
  return { result: { ...result, publication }, modelVersionId, placement };
}

type Made = Parameters<typeof addVariant>[1] & Parameters<typeof noteFidelity>[2];

async function putVariant(db: ProjectDatabase, variant: Made): Promise<Publication> {
  const outcome = await addVariant(db, variant);
  if (outcome === "taken" || outcome === "full") return outcome;
  if (outcome === "there") await noteFidelity(db, variant, variant);
  return "published";
}
