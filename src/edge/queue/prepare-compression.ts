import { EDGE_VARIANTS } from "../../protocol/edge-place.ts";
import type { JobInput, JobSpec } from "../../protocol/job.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { ModelVersion } from "../../protocol/model.ts";
import type { FieldError } from "../../protocol/problem.ts";
import { findModel } from "../store/model-store.ts";
import { nameRecipe } from "./name-recipe.ts";
import type { JobSurroundings, Prepared } from "./prepare-spec.ts";

type Input = Extract<JobInput, { kind: "compression" }>;
type Spec = Extract<JobSpec, { kind: "compression" }>;

/** Finds the version that is made smaller and the data that it is measured on, and checks that the variant's name is free. */
export async function prepareCompression(input: Input, { db }: JobSurroundings): Promise<Prepared<Spec>> {
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
  return { spec, errors: checkName(version, spec) };
}

/** The same recipe under the same name is measured again; nothing else may have the name. */
function checkName({ variants }: ModelVersion, { name, recipe }: Spec): FieldError[] {
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
