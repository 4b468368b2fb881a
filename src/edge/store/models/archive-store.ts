import { and, desc, eq, lt, sql } from "drizzle-orm";
import type { z } from "zod";
import { type ArchiveListQuery, type ArchiveSummary, StoredArchive } from "../../../protocol/policies/archive.ts";
import { createId } from "../../../protocol/wire/id.ts";
import { cutPage, decodeCursor } from "../cursor.ts";
import type { ProjectDatabase } from "../database.ts";
import { toInstant } from "../../clock.ts";
import { roomFor } from "../quotas/quota-store.ts";
import { archives } from "../schema.ts";

type Row = typeof archives.$inferSelect;

function toArchive({ id, jobId, digest, sizeBytes, summary, createdAtMs }: Row): StoredArchive {
  return StoredArchive.parse({ ...summary, id, jobId, digest, sizeBytes, createdAt: toInstant(createdAtMs) });
}

/** An archive whose file is stored. */
interface NewArchive {
  readonly jobId: string | null;
  readonly digest: string;
  readonly sizeBytes: number;
  readonly summary: ArchiveSummary;
}

/** Stores a job's archive once; null where the project's quota is used up. */
export async function addArchive(db: ProjectDatabase, archive: NewArchive): Promise<StoredArchive | null> {
  const { jobId, digest, sizeBytes, summary } = archive;
  const { project } = db;
  const row: Row = { id: createId("archive"), project, jobId, digest, sizeBytes, summary, createdAtMs: Date.now() };
  const { meta } = await db.run(sql`
    insert into archives (id, project, job_id, digest, size_bytes, summary, created_at_ms)
    select ${row.id}, ${project}, ${jobId}, ${digest}, ${sizeBytes}, ${JSON.stringify(summary)}, ${row.createdAtMs}
    where ${roomFor(db, "archives")}
    and not exists (select 1 from archives where job_id = ${jobId})`);
  if (meta.changes > 0) return toArchive(row);
  if (jobId === null) return null;
  const [known] = await db
    .select()
    .from(archives)
    .where(and(eq(archives.project, project), eq(archives.jobId, jobId)));
  return known === undefined ? null : toArchive(known);
}

export async function findArchive(db: ProjectDatabase, id: string): Promise<StoredArchive | null> {
  const [row] = await db
    .select()
    .from(archives)
    .where(and(eq(archives.project, db.project), eq(archives.id, id)));
  return row === undefined ? null : toArchive(row);
}

/** Archives, newest first. */
export async function listArchives(
  db: ProjectDatabase,
  { environment, job, cursor, limit }: z.infer<typeof ArchiveListQuery>,
): Promise<{ items: StoredArchive[]; nextCursor: string | null }> {
  const found = await db
    .select()
    .from(archives)
    .where(
      and(
        eq(archives.project, db.project),
        environment === undefined
          ? undefined
          : eq(sql`json_extract(${archives.summary}, '$.environment')`, environment),
        job === undefined ? undefined : eq(archives.jobId, job),
        cursor === undefined ? undefined : lt(archives.id, String(decodeCursor(cursor, 1)[0])),
      ),
    )
    .orderBy(desc(archives.id))
    .limit(limit + 1);
  const { rows, nextCursor } = cutPage(found, limit, (row) => [row.id]);
  return { items: rows.map(toArchive), nextCursor };
}

export async function removeArchive(db: ProjectDatabase, id: string): Promise<void> {
  await db.delete(archives).where(and(eq(archives.project, db.project), eq(archives.id, id)));
}
