import { and, desc, eq, lt } from "drizzle-orm";
import type { AuditEntry, AuditQuery } from "../../protocol/audit.ts";
import { createId } from "../../protocol/id.ts";
import { cutPage, decodeCursor } from "./cursor.ts";
import type { Database, ProjectDatabase } from "./database.ts";
import { toInstant } from "./instant.ts";
import { auditEntries } from "./schema.ts";

/** What is known of an act when it has ended. */
type Act = Pick<typeof auditEntries.$inferSelect, "keyId" | "action" | "path" | "status">;

export async function addAuditEntry(db: ProjectDatabase, act: Act): Promise<void> {
  const atMs = Date.now();
  await db.insert(auditEntries).values({ id: createId("auditEntry", atMs), project: db.project, ...act, atMs });
}

/** The project's entries, newest first. */
export async function listAuditEntries(
  db: ProjectDatabase,
  { key, cursor, limit }: AuditQuery,
): Promise<{ items: AuditEntry[]; nextCursor: string | null }> {
  const found = await db
    .select()
    .from(auditEntries)
    .where(
      and(
        eq(auditEntries.project, db.project),
        key === undefined ? undefined : eq(auditEntries.keyId, key),
        cursor === undefined ? undefined : lt(auditEntries.id, String(decodeCursor(cursor, 1)[0])),
      ),
    )
    .orderBy(desc(auditEntries.id))
    .limit(limit + 1);
  const { rows, nextCursor } = cutPage(found, limit, (row) => [row.id]);
  const items = rows.map(({ id, keyId, action, path, status, atMs }) => ({
    id,
    key: keyId,
    action,
    path,
    status,
    at: toInstant(atMs),
  }));
  return { items, nextCursor };
}

/** Forgets what was done before `beforeMs`, of all projects. */
export async function pruneAuditEntries(db: Database, beforeMs: number): Promise<void> {
  await db.delete(auditEntries).where(lt(auditEntries.atMs, beforeMs));
}
