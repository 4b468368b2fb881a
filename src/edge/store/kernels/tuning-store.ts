import { and, desc, eq, lte } from "drizzle-orm";
import { fingerprintIdOf } from "../../../protocol/fleet/hardware.ts";
import {
  type StoredTuning,
  type StoredTuningRecord,
  type Tuning,
  tuningIdOf,
  type TuningListQuery,
  TuningRecord,
} from "../../../protocol/jobs/tuning.ts";
import { behindCursor, cutPage } from "../cursor.ts";
import type { ProjectDatabase } from "../database.ts";
import { type RunInput, runIdOf } from "../history/run-store.ts";
import { runs, tunings } from "../schema.ts";

type Row = typeof tunings.$inferSelect;

function toStoredTuning({ id, fingerprintId, jobId, runnerId, tuning }: Row): StoredTuning {
  return { ...tuning, id, fingerprintId, jobId, runnerId };
}

/**
 * Stores a job's result as the answer to its key. A later job replaces an earlier one, whichever is stored first;
 * results that a runner had already are stored only where there are none.
 */
export async function saveTuning(
  db: ProjectDatabase,
  { jobId, runnerId, endedAtMs }: Pick<RunInput, "jobId" | "runnerId" | "endedAtMs">,
  { tuning, cached }: { readonly tuning: Tuning; readonly cached: boolean },
): Promise<void> {
  const id = await tuningIdOf(tuning);
  const fingerprintId = await fingerprintIdOf(tuning.fingerprint);
  const found = { kernel: tuning.kernel, fingerprintId, jobId, runnerId, tuning, storedAtMs: endedAtMs };
  const insert = db.insert(tunings).values({ project: db.project, id, ...found });
  await (cached
    ? insert.onConflictDoNothing()
    : // Ids of jobs sort by creation.
      insert.onConflictDoUpdate({
        target: [tunings.project, tunings.id],
        set: found,
        setWhere: lte(tunings.jobId, jobId),
      }));
}

export async function listTunings(
  db: ProjectDatabase,
  { kernel, device, limit, cursor }: TuningListQuery,
): Promise<{ items: StoredTuning[]; nextCursor: string | null }> {
  const after = behindCursor(cursor, tunings.storedAtMs, tunings.id);
  const found = await db
    .select()
    .from(tunings)
    .where(
      and(
        eq(tunings.project, db.project),
        after,
        kernel === undefined ? undefined : eq(tunings.kernel, kernel),
        device === undefined ? undefined : eq(tunings.fingerprintId, device),
      ),
    )
    .orderBy(desc(tunings.storedAtMs), desc(tunings.id))
    .limit(limit + 1);
  const { rows, nextCursor } = cutPage(found, limit, (row) => [row.storedAtMs, row.id]);
  return { items: rows.map(toStoredTuning), nextCursor };
}

/** A tuning with its trials, from the result of its run. */
export async function findTuning(db: ProjectDatabase, id: string): Promise<StoredTuningRecord | null> {
  const [row] = await db
    .select()
    .from(tunings)
    .where(and(eq(tunings.project, db.project), eq(tunings.id, id)));
  if (row === undefined) return null;
  const [run] = await db
    .select({ result: runs.result })
    .from(runs)
    .where(eq(runs.id, runIdOf(row.jobId)));
  const trials = run === undefined ? [] : TuningRecord.parse(JSON.parse(run.result)).trials;
  return { tuning: toStoredTuning(row), trials };
}
