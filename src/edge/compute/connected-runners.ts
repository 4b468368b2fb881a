import { configOf, type Env } from "../config.ts";
import { openDatabase } from "../store/database.ts";
import { readConnectedRunners } from "../store/runner-store.ts";
import type { ComputeRunner } from "./choose-runners.ts";

let current: { readonly readAtMs: number; readonly runners: readonly ComputeRunner[] } | null = null;

/** The connected runners as this isolate last read them, at most a snapshot's age ago. */
export async function connectedRunners(env: Env): Promise<readonly ComputeRunner[]> {
  const nowMs = Date.now();
  if (current === null || nowMs - current.readAtMs > configOf(env).snapshotMs) {
    current = { readAtMs: nowMs, runners: await readConnectedRunners(openDatabase(env.DB)) };
  }
  return current.runners;
}
