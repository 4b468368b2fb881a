import type { Model, ModelVersion } from "../../protocol/model.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { Env } from "../config.ts";
import { openDatabase } from "../store/database.ts";
import { findModel } from "../store/model-store.ts";

/** A model by name or id; throws `not-found` where there is none. */
export async function mustFindModel(env: Env, nameOrId: string): Promise<Model> {
  const model = await findModel(openDatabase(env.DB), nameOrId);
  if (model === null) throw new ProblemError("not-found", `There is no model ${nameOrId}.`);
  return model;
}

/** One version of it; throws `not-found` where there is none. */
export async function mustFindVersion(env: Env, nameOrId: string, number: number): Promise<ModelVersion> {
  const { versions } = await mustFindModel(env, nameOrId);
  const version = versions.find((each) => each.version === number);
  if (version === undefined) throw new ProblemError("not-found", `The model ${nameOrId} has no version ${number}.`);
  return version;
}
