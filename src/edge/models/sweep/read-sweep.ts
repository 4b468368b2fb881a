import type { PlacementSweep, SweepQuery, Trade } from "../../../protocol/models/trade-offs.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { ProjectEnv } from "../../config.ts";
import { openProject } from "../../store/database.ts";
import { findPlacement, listPlacementsOfVersions } from "../../store/fleet/placement-store.ts";
import { usableBytes } from "../../store/fleet/profile-fit.ts";
import { findRunner } from "../../store/fleet/runner-store.ts";
import { findModel, findModelVersion } from "../../store/models/model-store.ts";
import { chooseVersion } from "../choose-version.ts";
import { analyseSweep, chooseMemoryBudget } from "./analyse-sweep.ts";
import { weighVariants } from "./weigh-variants.ts";

/** Analysis of a placement's sweep; throws `not-found` where there is no such placement. */
export async function readSweep(
  env: ProjectEnv,
  id: string,
  { memoryBytes, latencyMs }: SweepQuery,
): Promise<PlacementSweep> {
  const db = openProject(env);
  const placement = await findPlacement(db, id);
  if (placement === null) throw new ProblemError("not-found", `There is no placement ${id}.`);
  const { modelVersionId, runnerId, deviceKey, variant, backend, software } = placement;
  const [version, runner] = await Promise.all([findModelVersion(db, modelVersionId), findRunner(db, runnerId, [])]);
  if (version === null) throw new Error(`the placement ${id} is of no version`);
  const device = runner?.capabilities?.devices.find(({ key }) => key === deviceKey);
  const hardware = runner?.capabilities?.hardware;
  const hostBytes = hardware === undefined ? null : usableBytes(hardware);
  const budget = chooseMemoryBudget(memoryBytes, hostBytes, device?.memoryBytes ?? null);
  const about = { model: version.model, version: version.version, variant, backend, runnerId, deviceKey, software };
  return { placementId: id, ...about, ...analyseSweep(placement.sweep, placement.memory, { budget, latencyMs }) };
}

/** Trade-offs of a model's version, by default the latest that is placed; throws `not-found` if there is none. */
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
