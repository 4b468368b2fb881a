import { and, desc, eq, isNull, lt } from "drizzle-orm";
import { createId } from "../../protocol/id.ts";
import type { Key, KeyInput, Scope } from "../../protocol/key.ts";
import type { PageQuery } from "../../protocol/page.ts";
import { cutPage, decodeCursor } from "./cursor.ts";
import type { Database } from "./database.ts";
import { toInstant, toInstantOrNull } from "./instant.ts";
import { keys } from "./schema.ts";
import { createSecret, hashSecret } from "./secret.ts";

type Row = typeof keys.$inferSelect;

function toKey(row: Row): Key {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes,
    createdAt: toInstant(row.createdAtMs),
    revokedAt: toInstantOrNull(row.revokedAtMs),
  };
}

/** Creates a key; the secret is in this result and nowhere else. */
export async function createKey(db: Database, input: KeyInput): Promise<Key & { secret: string }> {
  const secret = createSecret("key");
  const row: Row = {
    id: createId("key"),
    hash: await hashSecret(secret),
    name: input.name,
    scopes: [...new Set(input.scopes)],
    createdAtMs: Date.now(),
    revokedAtMs: null,
  };
  await db.insert(keys).values(row);
  return { ...toKey(row), secret };
}

export async function listKeys(db: Database, page: PageQuery): Promise<{ items: Key[]; nextCursor: string | null }> {
  const after = page.cursor === undefined ? undefined : lt(keys.id, String(decodeCursor(page.cursor, 1)[0]));
  const found = await db
    .select()
    .from(keys)
    .where(after)
    .orderBy(desc(keys.id))
    .limit(page.limit + 1);
  const { rows, nextCursor } = cutPage(found, page.limit, (row) => [row.id]);
  return { items: rows.map(toKey), nextCursor };
}

/** Revokes a key; null where there is none of that id. Revoking twice keeps the first time. */
export async function revokeKey(db: Database, id: string): Promise<Key | null> {
  await db
    .update(keys)
    .set({ revokedAtMs: Date.now() })
    .where(and(eq(keys.id, id), isNull(keys.revokedAtMs)));
  const [row] = await db.select().from(keys).where(eq(keys.id, id));
  return row === undefined ? null : toKey(row);
}

/** Id and scopes of the key with this secret's hash, unless it was revoked. */
export async function findKeyByHash(db: Database, hash: string): Promise<{ id: string; scopes: Scope[] } | null> {
  const [row] = await db
    .select({ id: keys.id, scopes: keys.scopes })
    .from(keys)
    .where(and(eq(keys.hash, hash), isNull(keys.revokedAtMs)));
  return row ?? null;
}
