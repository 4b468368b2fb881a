import type { Runner } from "../../protocol/fleet/runner.ts";
import { type Env, jobQueue, type ProjectEnv, runnerLink, scopeEnv } from "../config.ts";
import { openDatabase, openProject } from "../store/database.ts";
import { deletePlacements } from "../store/fleet/placement-store.ts";
import {
  changeRunner,
  readRunnerCapabilities,
  noteRemoval,
  readUnnotedRemovals,
  readVanishedRunners,
  removeRunner,
} from "../store/fleet/runner-store.ts";
import { readVersionsInSight } from "../store/models/model-store.ts";
import { isTransferring } from "../store/transfer-store.ts";
import { planRunner } from "./plan-runner.ts";
import { logFailure } from "../log-failure.ts";
import { mustFindRunner, runnerNotFound } from "./runner-rights.ts";

/** Opens a runner to all projects, or restricts it to its own. */
export async function shareRunner(env: ProjectEnv, id: string, shared: boolean): Promise<Runner> {
  if (!(await changeRunner(openProject(env), id, { shared }))) throw runnerNotFound(id);
  await jobQueue(env).runnerShared(id, shared);
  await planAnew(env, id);
  return mustFindRunner(env, id);
}

/** Deletes the runner's outdated placements and queues the calibrations that it owes now. */
async function planAnew(env: ProjectEnv, id: string): Promise<void> {
  const nowMs = Date.now();
  const db = openProject(env);
  const runner = (await readRunnerCapabilities(db)).find((each) => each.id === id);
  // A runner that never connected owes nothing yet.
  if (runner === undefined) return;
  // All projects' versions: the placements of others are outdated once it works for its own alone.
  const versions = await readVersionsInSight(db, { ...runner, shared: true });
  const { uncalibrated, outdated } = await planRunner(env.DB, versions, runner);
  await deletePlacements(db, outdated, nowMs);
  await jobQueue(env).ensureCalibrations(id, uncalibrated);
}

/** Drains a runner, which finishes its work and takes no more, or ends the drain. */
export async function drainRunner(env: ProjectEnv, id: string, draining: boolean): Promise<Runner> {
  if (!(await changeRunner(openProject(env), id, { draining }))) throw runnerNotFound(id);
  await jobQueue(env).runnerDraining(id, draining);
  await runnerLink(env, id).setDraining(draining);
  return mustFindRunner(env, id);
}

/** Removes a runner of the project and closes its socket; false where there is none. */
export async function endRunner(env: ProjectEnv, id: string): Promise<boolean> {
  if (!(await removeRunner(openProject(env), id))) return false;
  await tellRemoval(env, id);
  return true;
}

/** Nobody may come again to repeat it: where it fails, `removeVanished` does it later. */
async function tellRemoval(env: Env, id: string): Promise<void> {
  // Its jobs end, and those after it in a closing project are removed, even if its link cannot be reached: its
  // credential is refused from now on.
  await runnerLink(env, id)
    .removed(id)
    .catch((error: unknown) => logFailure("link-not-ended", error, { runnerId: id }));
  await jobQueue(env).runnerRemoved(id);
  await noteRemoval(openDatabase(env.DB), id).catch((error: unknown) =>
    logFailure("removal-not-noted", error, { runnerId: id }),
  );
}

/** Time for which a removal may be under way. */
const UNDER_WAY_MS = 60_000;
/** Time for which an ephemeral runner may be offline, or take to connect first, before it counts as vanished. */
export const VANISHED_MS = 600_000;

/**
 * Removes the ephemeral runners that went without saying so, as a killed container does, and ends the removals that
 * failed halfway.
 */
export async function removeVanished(env: Env, nowMs: number): Promise<void> {
  try {
    const db = openDatabase(env.DB);
    const [vanished, unnoted] = await Promise.all([
      readVanishedRunners(db, nowMs - VANISHED_MS),
      readUnnotedRemovals(db, nowMs - UNDER_WAY_MS),
    ]);
    // A transfer needs data that does not change.
    if (vanished.length + unnoted.length === 0 || (await isTransferring(env.DB, nowMs))) return;
    const ends = [
      ...vanished.map(({ id, project }) => ({ id, end: () => endRunner(scopeEnv(env, project), id) })),
      ...unnoted.map(({ id }) => ({ id, end: () => tellRemoval(env, id) })),
    ];
    for (const { id, end } of ends)
      await end().catch((error: unknown) => logFailure("runner-not-ended", error, { runnerId: id }));
  } catch (error) {
    // The next minute finds the rest.
    logFailure("vanished-not-removed", error);
  }
}
