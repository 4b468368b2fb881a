import { and, asc, desc, eq, type SQL, sql } from "drizzle-orm";
import { createId } from "../../../protocol/wire/id.ts";
import type { PageQuery } from "../../../protocol/wire/page.ts";
import { Threshold, type ThresholdInput } from "../../../protocol/history/threshold.ts";
import { behindCursor, cutPage } from "../cursor.ts";
import type { ProjectDatabase } from "../database.ts";
import { toInstant } from "../../clock.ts";
import { roomFor } from "../quotas/quota-store.ts";
import { thresholds } from "../schema.ts";

function toThreshold(row: typeof thresholds.$inferSelect): Threshold {
  const times = { createdAt: toInstant(row.createdAtMs), updatedAt: toInstant(row.updatedAtMs) };
  return Threshold.parse({ ...JSON.parse(row.spec), id: row.id, version: row.version, ...times });
}

function isOwn({ project }: ProjectDatabase): SQL {
  return eq(thresholds.project, project);
}

/** Creates a rule; null where the project's quota is used up. */
export async function createThreshold(db: ProjectDatabase, input: ThresholdInput): Promise<Threshold | null> {
  const nowMs = Date.now();
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const spec = JSON.stringify(input);
  const row = { id: createId("threshold", nowMs), project: db.project, spec, version: 1, ...times };
  const { meta } = await db.run(sql`
    insert into thresholds (id, project, spec, version, created_at_ms, updated_at_ms)
    select ${row.id}, ${row.project}, ${spec}, ${row.version}, ${nowMs}, ${nowMs} where ${roomFor(db, "thresholds")}`);
  return meta.changes === 0 ? null : toThreshold(row);
}

export async function findThreshold(db: ProjectDatabase, id: string): Promise<Threshold | null> {
  const [row] = await db
    .select()
    .from(thresholds)
    .where(and(isOwn(db), eq(thresholds.id, id)));
  return row === undefined ? null : toThreshold(row);
}

/** Every rule of the project, oldest first. */
export async function readThresholds(db: ProjectDatabase): Promise<Threshold[]> {
  return (await db.select().from(thresholds).where(isOwn(db)).orderBy(asc(thresholds.id))).map(toThreshold);
}

/** Rules, newest first. Throws `invalid-request` for a cursor of another list. */
export async function listThresholds(
  db: ProjectDatabase,
  { cursor, limit }: PageQuery,
): Promise<{ items: Threshold[]; nextCursor: string | null }> {
  const after = behindCursor(cursor, thresholds.createdAtMs, thresholds.id);
  const found = await db
    .select()
    .from(thresholds)
    .where(and(isOwn(db), after))
    .orderBy(desc(thresholds.createdAtMs), desc(thresholds.id))
    .limit(limit + 1);
  const cut = cutPage(found, limit, (row) => [row.createdAtMs, row.id]);
  return { items: cut.rows.map(toThreshold), nextCursor: cut.nextCursor };
}

/** Replaces a rule if it still has `version`; null where it does not, or is gone. */
export async function updateThreshold(
  db: ProjectDatabase,
  id: string,
  version: number,
  input: ThresholdInput,
): Promise<Threshold | null> {
  const [row] = await db
    .update(thresholds)
    .set({ spec: JSON.stringify(input), version: version + 1, updatedAtMs: Date.now() })
    .where(and(isOwn(db), eq(thresholds.id, id), eq(thresholds.version, version)))
    .returning();
  return row === undefined ? null : toThreshold(row);
}

export async function deleteThreshold(db: ProjectDatabase, id: string): Promise<boolean> {
  const gone = await db
    .delete(thresholds)
    .where(and(isOwn(db), eq(thresholds.id, id)))
    .returning({ id: thresholds.id });
  return gone.length > 0;
}
