import { ProblemError } from "../../protocol/problem.ts";
import type { Trade } from "../../protocol/trade.ts";
import { chooseVersion } from "../budget/choose-version.ts";
import type { ProjectEnv } from "../config.ts";
import { openProject } from "../store/database.ts";
import { findModel } from "../store/model-store.ts";
import { listPlacementsOfVersions } from "../store/placement-store.ts";
import { weighVariants } from "./weigh-variants.ts";

/** The trade of a version of a model, the latest that is placed where none is wanted; throws `not-found` where it is not. */
export async function readTrade(env: ProjectEnv, nameOrId: string, wanted: number | undefined): Promise<Trade> {
  const db = openProject(env);
  const model = await findModel(db, nameOrId);
  if (model === null) throw new ProblemError("not-found", `There is no model ${nameOrId}.`);
  const ids = model.versions.map(({ id }) => id);
  const placements = await listPlacementsOfVersions(db, ids);
  const placed = new Set(placements.map(({ modelVersionId }) => modelVersionId));
  const version = chooseVersion(model.versions, wanted?.toString(), (id) => placed.has(id));
  if (version === null) {
    const errors = [{ pointer: "query/version", message: "is not a version of the model" }];
    throw new ProblemError("not-found", `The model ${nameOrId} has no version ${wanted}.`, { errors });
  }
  const own = placements.filter(({ modelVersionId }) => modelVersionId === version.id);
  return { model: model.name, version: version.version, items: weighVariants(version, own) };
}
