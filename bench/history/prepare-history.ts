import { DatabaseSync } from "node:sqlite";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createBootstrapSecret } from "../../src/local/data-folder.ts";
import { startEdge } from "../../src/local/edge-host.ts";
import { ROOT } from "../hop/start-stack.ts";
import { fillHistory } from "./fill-history.ts";
import type { MeasuredYear } from "./measured-year.ts";
import { findD1File } from "./start-d1.ts";

/** Longer than any bench: nothing is done by the clock. */
export const NEVER_MS = 86_400_000;
/** Interval that starts the next work of the cron right after the last. */
const AT_ONCE_MS = 1;
const POLL_MS = 250;
const ROLL_LIMIT_MS = 600_000;

/** A year's history in an edge's folder. */
export interface PreparedHistory {
  /** Ids of the series, in the order of the year. */
  readonly ids: readonly string[];
  readonly rolledPerSecond: number;
  readonly sizeBytes: number;
}

/** Creates the database, fills it while no edge runs, and lets the edge's own cron roll all of it up. */
export async function prepareHistory(dataDir: string, year: MeasuredYear): Promise<PreparedHistory> {
  const start = (cronMs: number) =>
    startEdge({ port: 0, dataDir, root: ROOT, bootstrapSecret: createBootstrapSecret(), cronMs });
  await (await start(NEVER_MS)).stop();
  const file = await findD1File(join(dataDir, "edge"));
  const ids = await fillHistory(file, year);
  const startedMs = performance.now();
  const edge = await start(AT_ONCE_MS);
  try {
    await waitForRollups(file, year.no.length, startedMs + ROLL_LIMIT_MS);
  } finally {
    await edge.stop();
  }
  const rolledPerSecond = (year.no.length / (performance.now() - startedMs)) * 1e3;
  return { ids, rolledPerSecond, sizeBytes: (await stat(file)).size };
}

async function waitForRollups(file: string, points: number, endMs: number): Promise<void> {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const statement = db.prepare("select rolled_seq as rolledSeq from history_state");
    while ((statement.get() as { rolledSeq: number }).rolledSeq < points) {
      if (performance.now() > endMs) throw new Error(`not all was rolled up within ${ROLL_LIMIT_MS / 1e3} s`);
      await delay(POLL_MS);
    }
  } finally {
    db.close();
  }
}
