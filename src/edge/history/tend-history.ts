import { configOf, type Env } from "../config.ts";
import { pruneAuditEntries } from "../store/project-store.ts";
import { openDatabase } from "../store/database.ts";
import { PRUNED_PARTS, prunePoints, pruneRollups, pruneSeries } from "../store/history/retention-store.ts";
import { HOUR_MS } from "../store/history/rollup-store.ts";
import { fillFingerprints } from "../store/history/series-store.ts";
import { pruneJobArtifacts } from "../store/artifact-store.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { pruneUploads } from "../store/models/upload-store.ts";
import { pruneDeliveries } from "../store/history/delivery-store.ts";
import { isTransferring } from "../store/transfer-store.ts";
import { detectLanded } from "./detect/detect-landed.ts";
import { packRollups, rollUp } from "./rollup/roll-up.ts";
import { deliverDue } from "./webhooks/deliveries.ts";
import { logFailure } from "../log-failure.ts";

/** Most steps of one kind in a minute; the rest waits for the next. */
const ROLL_STEPS = 100;
const PACK_STEPS = 40;
const PRUNE_STEPS = 20;
const DETECT_STEPS = 15;

/** The history's upkeep of every minute. Each part may fail or stop anywhere, and continues the next time. */
export async function tendHistory(env: Env, nowMs: number): Promise<void> {
  // A transfer needs data that does not change.
  if (await isTransferring(env.DB, nowMs)) return;
  const { retention } = configOf(env);
  await attempt("roll-up", () => rollUp(env.DB, ROLL_STEPS));
  await attempt("pack", async () => {
    for (let step = 0; step < PACK_STEPS; step++) if (!(await packRollups(env.DB))) break;
  });
  await attempt("fill-fingerprints", () => fillFingerprints(openDatabase(env.DB)));
  await attempt("detect", () => detectLanded(env, nowMs, DETECT_STEPS));
  await attempt("prune", async () => {
    for (let step = 0; step < PRUNE_STEPS; step++)
      if (!(await prunePoints(env.DB, nowMs - retention.requestsMs))) break;
    // Every part of the series is checked once a day, in the first minute of an hour.
    if (nowMs % HOUR_MS < 60_000) {
      const part = Math.floor(nowMs / HOUR_MS) % PRUNED_PARTS;
      await pruneRollups(env.DB, part, nowMs - retention.minutesMs, nowMs - retention.hoursMs);
      // A point that comes meanwhile fails a step: the others go on.
      await attempt("prune-series", async () => {
        for (let step = 0; step < PRUNE_STEPS; step++)
          if (!(await pruneSeries(env.DB, part, nowMs - retention.seriesMs))) break;
      });
      await pruneDeliveries(env.DB, nowMs);
      await pruneAuditEntries(openDatabase(env.DB), nowMs - retention.auditMs);
      await pruneJobArtifacts(env.DB, env.ARTIFACTS, nowMs - retention.artifactsMs);
    }
    await pruneUploads(env.DB, env.ARTIFACTS, nowMs - LIMITS.uploadMs);
  });
  await attempt("webhooks", () => deliverDue(env, nowMs));
}

/** A failed part does not stop the others. */
async function attempt(part: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    logFailure("history-failed", error, { part });
  }
}
