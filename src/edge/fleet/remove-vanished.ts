import { type Env, scopeEnv } from "../config.ts";
import { logFailure } from "../log-failure.ts";
import { openDatabase } from "../store/database.ts";
import { readVanishedRunners } from "../store/fleet/runner-store.ts";
import { isTransferring } from "../store/transfer-store.ts";
import { endRunner } from "./change-runner.ts";

/** Time for which an ephemeral runner may be offline, or take to connect first, before it counts as vanished. */
export const VANISHED_MS = 600_000;

/** Removes the ephemeral runners that went without saying so, as a killed container does. */
export async function removeVanished(env: Env, nowMs: number): Promise<void> {
  try {
    const vanished = await readVanishedRunners(openDatabase(env.DB), nowMs - VANISHED_MS);
    // A transfer needs data that does not change.
    if (vanished.length === 0 || (await isTransferring(env.DB, nowMs))) return;
    for (const { id, project } of vanished) await endRunner(scopeEnv(env, project), id);
  } catch (error) {
    // The next minute finds the rest.
    logFailure("vanished-not-removed", error);
  }
}
