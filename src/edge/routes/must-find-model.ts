import type { Model, ModelVersion } from "../../protocol/model.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { ProjectEnv } from "../config.ts";
import { openProject } from "../store/database.ts";
import { findModel } from "../store/model-store.ts";

/** A model by name or id; throws `not-found` where there is none. */
export async function mustFindModel(env: ProjectEnv, nameOrId: string): Promise<Model> {
  const model = await findModel(openProject(env), nameOrId);
  if (model === null) throw new ProblemError("not-found", `There is no model ${nameOrId}.`);
  return model;
}

/** One version of it; throws `not-found` where there is none. */
export async function mustFindVersion(env: ProjectEnv, nameOrId: string, number: number): Promise<ModelVersion> {
  const { versions } = await mustFindModel(env, nameOrId);
  const version = versions.find((each) => each.version === number);
  if (version === undefined) throw new ProblemError("not-found", `The model ${nameOrId} has no version ${number}.`);
  return version;
}
