import type { CompressionResult, CompressionSpec } from "../../protocol/jobs/compression.ts";
import { EDGE_VARIANTS } from "../../protocol/models/edge-place.ts";
import type { ModelVersion } from "../../protocol/models/model.ts";
import type { Recipe } from "../../protocol/models/variant.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import type { FieldError } from "../../protocol/wire/problem.ts";
import type { ProjectEnv } from "../config.ts";
import { compareSignatures } from "../models/read-signature.ts";
import { readStoredModel } from "../models/stored-model.ts";
import { findJobArtifact } from "../store/artifact-store.ts";
import { type Database, openProject, type ProjectDatabase } from "../store/database.ts";
import { appendMeasurements, type Measurement } from "../store/history/point-store.ts";
import { findAnyVersion, findModel, findModelVersion, toPlacedModel } from "../store/models/model-store.ts";
import { addVariant, noteFidelity } from "../store/models/version-store.ts";
import type {
  InputOf,
  JobKindModule,
  JobSurroundings,
  OfferContext,
  Prepared,
  Published,
  RunContext,
  StoredRun,
} from "./kind.ts";
import { pointsOf } from "./subjects/run-points.ts";

export const compression: JobKindModule<CompressionSpec> = {
  prepare,
  offer,
  files: ({ digest, data }) => [digest, data?.digest],
  answers: (spec, { modelVersionId, variant, recipe }) =>
    modelVersionId === spec.modelVersionId &&
    variant === spec.name &&
    JSON.stringify(recipe) === JSON.stringify(spec.recipe),
  publish,
  store: async (env, { result }, run) => appendMeasurements(env.DB, measureCompression(result, run)),
};

async function offer(db: Database, { modelVersionId }: CompressionSpec): Promise<OfferContext> {
  const version = await findAnyVersion(db, modelVersionId);
  return { model: version === null ? null : toPlacedModel(version, []) };
}

/** A compression's points in the history of its model, by variant: its fidelity, and its size beside its parent's. */
function measureCompression(result: CompressionResult, run: RunContext): Measurement[] {
  const { model, variant, fidelity, file, parentBytes, environment } = result;
  const subject = { subjectKind: "model", subject: model, environment } as const;
  const basis = fidelity.basis === "metric" ? fidelity.metric : fidelity.basis;
  const pointOfFidelity = pointsOf(run, { ...subject, configuration: { variant, basis } });
  const point = pointsOf(run, { ...subject, configuration: { variant } });
  return [
    pointOfFidelity("fidelity", "share", "higher", fidelity.value),
    point("sizeShare", "share", "lower", file.sizeBytes / parentBytes),
  ];
}

type Publication = NonNullable<CompressionResult["publication"]>;

/**
 * Makes the file of a compression a variant of its version, with its recipe. The same bytes are the same variant. The
 * result reports a file that cannot be a variant, and is stored anyway.
 */
async function publish(
  env: ProjectEnv,
  { jobId, spec }: StoredRun<CompressionSpec>,
  result: CompressionResult,
): Promise<Published<CompressionResult>> {
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

/** Name of a variant after its recipe: letters, digits, `.` and `-`. */
export function nameRecipe(recipe: Recipe): string {
  switch (recipe.method) {
    case "fp16":
      return "fp16";
    case "int8":
      return recipe.activations === "float" ? "int8" : `int8-${recipe.activations}`;
    case "int4":
      return `int4-g${recipe.blockSize}`;
    case "low-rank":
      if (recipe.rank !== undefined) return `low-rank-r${recipe.rank}`;
      if (recipe.energy !== undefined) return `low-rank-${percent(recipe.energy)}`;
      return `low-rank-f${percent(recipe.minFidelity!)}`;
    case "pruned":
      if (recipe.channels !== undefined) return `pruned-c${percent(recipe.channels)}`;
      return `pruned-${percent(recipe.sparsity!)}`;
    case "distilled":
      return "distilled";
  }
}

/** A share in percent with the digits it needs, at most ten: 0.995 is `99.5`. */
function percent(share: number): string {
  return String(Number((100 * share).toFixed(10)));
}

/** Finds the version to compress and the data that it is measured on, and checks that the variant's name is free. */
async function prepare(input: InputOf<CompressionSpec>, { db }: JobSurroundings): Promise<Prepared<CompressionSpec>> {
  const { version: number, name = nameRecipe(input.recipe), ...shared } = input;
  const model = await findModel(db, input.model);
  const version =
    number === undefined ? model?.versions.at(-1) : model?.versions.find((each) => each.version === number);
  if (model === null || version === undefined) {
    const error =
      model === null
        ? { pointer: "#/model", message: "is not a model that was uploaded" }
        : { pointer: "#/version", message: `is not a version of ${model.name}` };
    const nothing = { version: 0, modelVersionId: "", digest: "", data: null };
    return { spec: { ...shared, name, ...nothing }, errors: [error] };
  }
  const { id: modelVersionId, digest, data } = version;
  const spec = { ...shared, model: model.name, version: version.version, name, modelVersionId, digest, data };
  return { spec, errors: [...checkSize(version), ...checkName(version, spec)] };
}

/** A compression has the whole file in memory. */
function checkSize({ files }: ModelVersion): FieldError[] {
  if (files.length === 0) return [];
  return [
    { pointer: "#/model", message: `must be a file of at most ${LIMITS.modelBytes} bytes to be compressed here` },
  ];
}

/** The same recipe under the same name is measured again; no other recipe may use the name. */
function checkName({ variants }: ModelVersion, { name, recipe }: CompressionSpec): FieldError[] {
  const pointer = "#/name";
  if (EDGE_VARIANTS.some((reserved) => reserved === name)) {
    return [{ pointer, message: `is reserved: ${EDGE_VARIANTS.join(" and ")} are not made by jobs` }];
  }
  const known = variants.find((each) => each.name === name);
  if (known === undefined) {
    if (variants.length < LIMITS.variantsPerVersion) return [];
    return [{ pointer, message: `is one too many: a version has at most ${LIMITS.variantsPerVersion} variants` }];
  }
  if (known.recipe === null) return [{ pointer, message: "is a variant that was uploaded" }];
  if (JSON.stringify(known.recipe) === JSON.stringify(recipe)) return [];
  return [{ pointer, message: `is a variant of another recipe, ${JSON.stringify(known.recipe)}` }];
}
