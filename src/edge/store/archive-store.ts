import { and, desc, eq, lt, sql } from "drizzle-orm";
import type { z } from "zod";
import { type ArchiveListQuery, type ArchiveSummary, StoredArchive } from "../../protocol/archive.ts";
import { createId } from "../../protocol/id.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { cutPage, decodeCursor } from "./cursor.ts";
import { type Database, openDatabase } from "./database.ts";
import { toInstant } from "./instant.ts";
import { archives } from "./schema.ts";

type Row = typeof archives.$inferSelect;

function toArchive({ id, jobId, digest, sizeBytes, summary, createdAtMs }: Row): StoredArchive {
  return StoredArchive.parse({ ...summary, id, jobId, digest, sizeBytes, createdAt: toInstant(createdAtMs) });
}

/** An archive whose file is there. */
interface NewArchive {
  readonly jobId: string | null;
  readonly digest: string;
  readonly sizeBytes: number;
  readonly summary: ArchiveSummary;
}

/** Stores an archive, of a job once; null where there are as many as there may be. */
export async function addArchive(binding: D1Database, archive: NewArchive): Promise<StoredArchive | null> {
  const { jobId, digest, sizeBytes, summary } = archive;
  const row: Row = { id: createId("archive"), jobId, digest, sizeBytes, summary, createdAtMs: Date.now() };
  const { meta } = await binding
    .prepare(
      `insert into archives (id, job_id, digest, size_bytes, summary, created_at_ms) select ?1, ?2, ?3, ?4, ?5, ?6
       where (select count(*) from archives) < ?7 and not exists (select 1 from archives where job_id = ?2)`,
    )
    .bind(row.id, jobId, digest, sizeBytes, JSON.stringify(summary), row.createdAtMs, LIMITS.archives)
    .run();
  if (meta.changes > 0) return toArchive(row);
  if (jobId === null) return null;
  const [known] = await openDatabase(binding).select().from(archives).where(eq(archives.jobId, jobId));
  return known === undefined ? null : toArchive(known);
}

export async function findArchive(db: Database, id: string): Promise<StoredArchive | null> {
  const [row] = await db.select().from(archives).where(eq(archives.id, id));
  return row === undefined ? null : toArchive(row);
}

/** Archives, newest first. */
export async function listArchives(
  db: Database,
  { environment, job, cursor, limit }: z.infer<typeof ArchiveListQuery>,
): Promise<{ items: StoredArchive[]; nextCursor: string | null }> {
  const found = await db
    .select()
    .from(archives)
    .where(
      and(
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

export async function removeArchive(db: Database, id: string): Promise<void> {
  await db.delete(archives).where(eq(archives.id, id));
}
