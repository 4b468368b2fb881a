import type { Runner } from "../../protocol/fleet/runner.ts";
import { MAIN_PROJECT } from "../../protocol/service/project.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { configOf, type Env, jobQueue, type ProjectEnv } from "../config.ts";
import { openDatabase, openProject } from "../store/database.ts";
import { hasFileOn, isPlacedOn } from "../store/fleet/placement-store.ts";
import { readAllProfiles } from "../store/fleet/profile-store.ts";
import { findRunner } from "../store/fleet/runner-store.ts";
import { isPoolDigest } from "../store/kernels/agent-pool-store.ts";
import { isMemoryPart } from "../store/kernels/item-memory-store.ts";
import { readVersionsOfDigest } from "../store/models/model-store.ts";
import { readRunnerState } from "../store/project-store.ts";

/** Finds a runner visible to the project: its own or a shared one. Throws `not-found` for others. */
export async function mustFindRunner(env: ProjectEnv, id: string): Promise<Runner> {
  const db = openProject(env);
  const runner = await findRunner(db, id, await readAllProfiles(db));
  if (runner === null) throw runnerNotFound(id);
  return runner;
}

/**
 * Checks ownership: a runner's reports name the models of every project that it works for, so only its owner may see
 * them.
 */
export async function mustOwnRunner(env: ProjectEnv, id: string): Promise<void> {
  const { owned } = await mustFindRunner(env, id);
  if (!owned) throw runnerNotFound(id);
}

export function runnerNotFound(id: string): ProblemError {
  return new ProblemError("not-found", `There is no runner ${id}.`);
}

/** Throws `forbidden` for a project that the operator does not trust with other projects' work. */
export function checkMayShare(env: ProjectEnv): void {
  if (env.project === MAIN_PROJECT || configOf(env).projectsShareRunners) return;
  const message = "Only the operator's runners are shared here; see PROJECTS_SHARE_RUNNERS.";
  throw new ProblemError("forbidden", message, { errors: [{ pointer: "header/authorization", message }] });
}

/** Throws `forbidden` for a runner that is not ephemeral: an administrator removes it. */
export async function mustEndItself(env: ProjectEnv, id: string): Promise<void> {
  if ((await mustFindRunner(env, id)).ephemeral) return;
  const message = "Only an ephemeral runner removes itself; an administrator removes this one.";
  throw new ProblemError("forbidden", message, { errors: [{ pointer: "header/authorization", message }] });
}

/** Whether a runner may read a file: one of its placed models, or one used by a job that it leases. */
export async function mayRead(env: Env, runnerId: string, digest: string): Promise<boolean> {
  const db = openDatabase(env.DB);
  // Most that are asked for, and again for each of their ranges.
  if (await hasFileOn(db, runnerId, digest)) return true;
  const versionIds = await readVersionsOfDigest(db, digest);
  if (await isPlacedOn(db, runnerId, versionIds)) return true;
  // Any runner of a project may have to search its memories or work on its pools.
  const owner = await readRunnerState(db, runnerId);
  if (owner === null) return false;
  const servedProject = owner.shared ? null : owner.project;
  if ((await isMemoryPart(db, digest, servedProject)) || (await isPoolDigest(db, digest, servedProject))) return true;
  const queue = jobQueue(env);
  return (await queue.isCalibrating(runnerId, versionIds)) || queue.isWorkingOn(runnerId, digest);
}
