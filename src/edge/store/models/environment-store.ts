import { and, count, desc, eq, lt, or } from "drizzle-orm";
import type { EnvironmentInput, OfferedEnvironment } from "../../../protocol/policies/environment-definition.ts";
import { createId, idSchema } from "../../../protocol/wire/id.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { PageQuery } from "../../../protocol/wire/page.ts";
import { digestOf } from "../artifact-store.ts";
import { cutPage, decodeCursor } from "../cursor.ts";
import type { Database, ProjectDatabase } from "../database.ts";
import { toInstant } from "../../clock.ts";
import { environments } from "../schema.ts";

const EnvironmentId = idSchema("environment");

/** True if a job's `environment` names a submitted one. */
export function isEnvironmentId(name: string): boolean {
  return EnvironmentId.safeParse(name).success;
}

/** A submitted environment. */
export interface StoredEnvironment extends OfferedEnvironment {
  readonly owner: string;
  readonly createdAt: string;
}

function toEnvironment({
  id,
  digest,
  keyId,
  definition,
  createdAtMs,
}: typeof environments.$inferSelect): StoredEnvironment {
  return { id, digest, definition, owner: keyId ?? "", createdAt: toInstant(createdAtMs) };
}

/**
 * Adds an environment; an equal one of the same owner is returned as it is. `name-taken` where another of the project
 * has its name, `too-many` where the owner's limit is reached.
 */
export async function addEnvironment(
  db: ProjectDatabase,
  keyId: string,
  definition: EnvironmentInput,
): Promise<{ environment: StoredEnvironment; created: boolean } | "name-taken" | "too-many"> {
  const digest = await digestOf(new TextEncoder().encode(JSON.stringify(definition)).buffer as ArrayBuffer);
  const known = await findEnvironment(db, definition.name);
  if (known !== null) {
    const isSame = known.digest === digest && known.owner === keyId;
    return isSame ? { environment: known, created: false } : "name-taken";
  }
  const [held] = await db
    .select({ held: count() })
    .from(environments)
    .where(and(eq(environments.project, db.project), eq(environments.keyId, keyId)));
  if ((held?.held ?? 0) >= LIMITS.environmentsPerKey) return "too-many";
  const row = {
    id: createId("environment"),
    project: db.project,
    name: definition.name,
    keyId,
    definition,
    digest,
    createdAtMs: Date.now(),
  };
  const [added] = await db.insert(environments).values(row).onConflictDoNothing().returning();
  return added === undefined
    ? addEnvironment(db, keyId, definition)
    : { environment: toEnvironment(added), created: true };
}

/** A submitted environment by its id or name. */
export async function findEnvironment(db: ProjectDatabase, idOrName: string): Promise<StoredEnvironment | null> {
  const [row] = await db
    .select()
    .from(environments)
    .where(
      and(eq(environments.project, db.project), or(eq(environments.id, idOrName), eq(environments.name, idOrName))),
    );
  return row === undefined ? null : toEnvironment(row);
}

/** Environment of a prepared job, of any project. */
export async function readOfferedEnvironment(db: Database, id: string): Promise<OfferedEnvironment | null> {
  const { digest, definition } = environments;
  const [row] = await db.select({ digest, definition }).from(environments).where(eq(environments.id, id));
  return row === undefined ? null : { id, ...row };
}

/** Submitted environments, newest first. */
export async function listStoredEnvironments(
  db: ProjectDatabase,
  page: PageQuery,
): Promise<{ items: StoredEnvironment[]; nextCursor: string | null }> {
  const after = page.cursor === undefined ? undefined : lt(environments.id, String(decodeCursor(page.cursor, 1)[0]));
  const found = await db
    .select()
    .from(environments)
    .where(and(eq(environments.project, db.project), after))
    .orderBy(desc(environments.id))
    .limit(page.limit + 1);
  const { rows, nextCursor } = cutPage(found, page.limit, (row) => [row.id]);
  return { items: rows.map(toEnvironment), nextCursor };
}

export async function deleteEnvironment(db: ProjectDatabase, id: string): Promise<void> {
  await db.delete(environments).where(and(eq(environments.project, db.project), eq(environments.id, id)));
}
