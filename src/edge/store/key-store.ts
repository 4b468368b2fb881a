import { and, desc, eq, isNull, lt } from "drizzle-orm";
import { createId } from "../../protocol/id.ts";
import type { Key, KeyInput, Scope } from "../../protocol/key.ts";
import type { PageQuery } from "../../protocol/page.ts";
import { cutPage, decodeCursor } from "./cursor.ts";
import type { Database, ProjectDatabase } from "./database.ts";
import { toInstant, toInstantOrNull } from "./instant.ts";
import { keys } from "./schema.ts";
import { createSecret, hashSecret } from "./secret.ts";

type Row = typeof keys.$inferSelect;

function toKey(row: Row): Key {
  return {
    id: row.id,
    name: row.name,
    project: row.project,
    scopes: row.scopes,
    createdAt: toInstant(row.createdAtMs),
    revokedAt: toInstantOrNull(row.revokedAtMs),
  };
}

/** Creates a key of the project that `input` names, else of the caller's; the secret is in this result and nowhere else. */
export async function createKey(db: ProjectDatabase, input: KeyInput): Promise<Key & { secret: string }> {
  const secret = createSecret("key");
  const row = {
    id: createId("key"),
    project: input.project ?? db.project,
    hash: await hashSecret(secret),
    name: input.name,
    scopes: [...new Set(input.scopes)],
    createdAtMs: Date.now(),
  };
  const [created] = await db.insert(keys).values(row).returning();
  return { ...toKey(created!), secret };
}

export async function listKeys(
  db: ProjectDatabase,
  page: PageQuery,
): Promise<{ items: Key[]; nextCursor: string | null }> {
  const after = page.cursor === undefined ? undefined : lt(keys.id, String(decodeCursor(page.cursor, 1)[0]));
  const found = await db
    .select()
    .from(keys)
    .where(and(eq(keys.project, db.project), after))
    .orderBy(desc(keys.id))
    .limit(page.limit + 1);
  const { rows, nextCursor } = cutPage(found, page.limit, (row) => [row.id]);
  return { items: rows.map(toKey), nextCursor };
}

/** Revokes a key; null where there is none of that id. Revoking twice keeps the first time. */
export async function revokeKey(db: ProjectDatabase, id: string): Promise<Key | null> {
  await db
    .update(keys)
    .set({ revokedAtMs: Date.now() })
    .where(and(eq(keys.project, db.project), eq(keys.id, id), isNull(keys.revokedAtMs)));
  const [row] = await db
    .select()
    .from(keys)
    .where(and(eq(keys.project, db.project), eq(keys.id, id)));
  return row === undefined ? null : toKey(row);
}

/** Id, project and scopes of the key with this secret's hash, unless it was revoked. */
export async function findKeyByHash(
  db: Database,
  hash: string,
): Promise<{ id: string; project: string; scopes: Scope[] } | null> {
  const [row] = await db
    .select({ id: keys.id, project: keys.project, scopes: keys.scopes })
    .from(keys)
    .where(and(eq(keys.hash, hash), isNull(keys.revokedAtMs)));
  return row ?? null;
}
