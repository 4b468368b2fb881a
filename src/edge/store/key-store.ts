import { and, desc, eq, gt, isNotNull, isNull, lt, notExists, or, sql } from "drizzle-orm";
import { createId } from "../../protocol/wire/id.ts";
import type { Key, KeyInput } from "../../protocol/service/key.ts";
import type { PageQuery } from "../../protocol/wire/page.ts";
import { cutPage, decodeCursor } from "./cursor.ts";
import type { Database, ProjectDatabase } from "./database.ts";
import { toInstant, toInstantOrNull } from "../clock.ts";
import { logFailure } from "../log-failure.ts";
import { roomFor } from "./quotas/quota-store.ts";
import { keys, projects } from "./schema.ts";
import { createSecret, hashSecret } from "./secret.ts";

/** Precision of a key's last use. */
const USED_EVERY_MS = 600_000;

type Row = typeof keys.$inferSelect;

function toKey(row: Omit<Row, "hash" | "previousHash">): Key {
  return {
    id: row.id,
    name: row.name,
    project: row.project,
    scopes: row.scopes,
    createdAt: toInstant(row.createdAtMs),
    revokedAt: toInstantOrNull(row.revokedAtMs),
    requestsPerSecond: row.requestsPerSecond,
    lastUsedAt: toInstantOrNull(row.lastUsedAtMs),
    oldSecretUntil: toInstantOrNull(row.previousUntilMs),
  };
}

/**
 * Creates a key of the database's project; the secret is only in this result. Null where the project's quota is used up.
 */
export async function createKey(
  db: ProjectDatabase,
  { name, scopes: wanted, requestsPerSecond: rate }: Omit<KeyInput, "project">,
): Promise<(Key & { secret: string }) | null> {
  const { project } = db;
  const secret = createSecret("key");
  const [scopes, requestsPerSecond] = [[...new Set(wanted)], rate ?? null];
  const made = { id: createId("key"), project, name, scopes, requestsPerSecond, createdAtMs: Date.now() };
  const { meta } = await db.run(sql`
    insert into keys (id, project, hash, name, scopes, requests_per_second, created_at_ms)
    select ${made.id}, ${project}, ${await hashSecret(secret)}, ${name}, ${JSON.stringify(scopes)}, ${requestsPerSecond},
      ${made.createdAtMs} where ${roomFor(db, "keys")}`);
  if (meta.changes === 0) return null;
  return { ...toKey({ ...made, revokedAtMs: null, lastUsedAtMs: null, previousUntilMs: null }), secret };
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

export type RotationOutcome =
  | { readonly kind: "rotated"; readonly key: Key & { secret: string } }
  | { readonly kind: "unknown" | "revoked" };

/** Replaces a key's secret; the current one works until `overlapMs` from now, an older one no longer. */
export async function rotateKey(db: ProjectDatabase, id: string, overlapMs: number): Promise<RotationOutcome> {
  const secret = createSecret("key");
  const isThis = and(eq(keys.project, db.project), eq(keys.id, id));
  const [row] = await db
    .update(keys)
    .set({ hash: await hashSecret(secret), previousHash: sql`${keys.hash}`, previousUntilMs: Date.now() + overlapMs })
    .where(and(isThis, isNull(keys.revokedAtMs)))
    .returning();
  if (row !== undefined) return { kind: "rotated", key: { ...toKey(row), secret } };
  const known = await db.select({ id: keys.id }).from(keys).where(isThis);
  return { kind: known.length > 0 ? "revoked" : "unknown" };
}

/** Grant of a key to its caller. */
type KeyGrant = Pick<Row, "id" | "project" | "scopes" | "requestsPerSecond">;

/** Grant of the key with this secret's hash, unless it was revoked; its uses are recorded now and then. */
export async function findKeyByHash(db: Database, hash: string, nowMs: number): Promise<KeyGrant | null> {
  const { id, project, scopes, requestsPerSecond, lastUsedAtMs } = keys;
  const [row] = await db
    .select({ id, project, scopes, requestsPerSecond, lastUsedAtMs })
    .from(keys)
    .where(
      and(
        isNull(keys.revokedAtMs),
        // A key created while its project closed grants nothing either.
        notExists(
          db
            .select({ name: projects.name })
            .from(projects)
            .where(and(eq(projects.name, keys.project), isNotNull(projects.closedAtMs))),
        ),
        or(eq(keys.hash, hash), and(eq(keys.previousHash, hash), gt(keys.previousUntilMs, nowMs))),
      ),
    );
  if (row === undefined) return null;
  const { lastUsedAtMs: usedAtMs, ...grant } = row;
  if (usedAtMs === null || nowMs - usedAtMs > USED_EVERY_MS) {
    // A database that is full, or takes no writes just now, does not stop a key that it knows.
    const noted = db.update(keys).set({ lastUsedAtMs: nowMs }).where(eq(keys.id, grant.id));
    await noted.run().catch((error: unknown) => logFailure("key-use-not-noted", error, { key: grant.id }));
  }
  return grant;
}
