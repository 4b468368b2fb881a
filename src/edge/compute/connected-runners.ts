import { configOf, type ProjectEnv } from "../config.ts";
import { openDatabase } from "../store/database.ts";
import { readConnectedRunners } from "../store/runner-store.ts";
import type { ComputeRunner } from "./choose-runners.ts";

type Connected = Awaited<ReturnType<typeof readConnectedRunners>>;

let current: { readonly readAtMs: number; readonly runners: Connected } | null = null;

/** The connected runners that work for the project, as this isolate last read them, at most a snapshot's age ago. */
export async function connectedRunners(env: ProjectEnv): Promise<readonly ComputeRunner[]> {
  const nowMs = Date.now();
  if (current === null || nowMs - current.readAtMs > configOf(env).snapshotMs) {
    current = { readAtMs: nowMs, runners: await readConnectedRunners(openDatabase(env.DB)) };
  }
  return current.runners.filter(({ project, shared }) => shared || project === env.project);
}
