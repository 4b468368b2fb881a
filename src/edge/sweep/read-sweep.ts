import { ProblemError } from "../../protocol/problem.ts";
import type { PlacementSweep, SweepQuery } from "../../protocol/sweep.ts";
import { usableBytes } from "../budget/usable-machine.ts";
import type { ProjectEnv } from "../config.ts";
import { openProject } from "../store/database.ts";
import { findModelVersion } from "../store/model-store.ts";
import { findPlacement } from "../store/placement-store.ts";
import { findRunner } from "../store/runner-store.ts";
import { analyseSweep } from "./analyse-sweep.ts";
import { chooseMemoryBudget } from "./safe-rows.ts";

/** What the sweep of a placement says; throws `not-found` where there is no such placement. */
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
