import { and, asc, eq, gt, type SQL, sql } from "drizzle-orm";
import type { PageQuery } from "../../../protocol/wire/page.ts";
import {
  RequirementSet,
  type RequirementSetInput,
  type RequirementSetUpdate,
} from "../../../protocol/models/requirement.ts";
import { cutPage, decodeCursor } from "../cursor.ts";
import type { ProjectDatabase } from "../database.ts";
import { toInstant } from "../../clock.ts";
import { roomFor } from "../quotas/quota-store.ts";
import { requirementSets } from "../schema.ts";

function toRequirementSet(row: typeof requirementSets.$inferSelect): RequirementSet {
  return RequirementSet.parse({ ...row.spec, version: row.version, updatedAt: toInstant(row.updatedAtMs) });
}

function isNamed({ project }: ProjectDatabase, name: string): SQL {
  return and(eq(requirementSets.project, project), eq(requirementSets.name, name))!;
}

/** Creates a set, unless its name is taken or the project's quota is used up. */
export async function createRequirementSet(
  db: ProjectDatabase,
  input: RequirementSetInput,
): Promise<RequirementSet | "taken" | "full"> {
  const row = { project: db.project, name: input.name, spec: input, version: 1, updatedAtMs: Date.now() };
  const { meta } = await db.run(sql`
    insert into requirement_sets (project, name, spec, version, updated_at_ms)
    select ${row.project}, ${row.name}, ${JSON.stringify(row.spec)}, ${row.version}, ${row.updatedAtMs}
    where ${roomFor(db, "requirementSets")}
    on conflict do nothing`);
  if (meta.changes > 0) return toRequirementSet(row);
  return (await findRequirementSet(db, input.name)) === null ? "full" : "taken";
}

export async function findRequirementSet(db: ProjectDatabase, name: string): Promise<RequirementSet | null> {
  const [row] = await db.select().from(requirementSets).where(isNamed(db, name));
  return row === undefined ? null : toRequirementSet(row);
}

/** Sets by name. Throws `invalid-request` for a cursor of another list. */
export async function listRequirementSets(
  db: ProjectDatabase,
  { cursor, limit }: PageQuery,
): Promise<{ items: RequirementSet[]; nextCursor: string | null }> {
  const after = cursor === undefined ? undefined : gt(requirementSets.name, String(decodeCursor(cursor, 1)[0]));
  const found = await db
    .select()
    .from(requirementSets)
    .where(and(eq(requirementSets.project, db.project), after))
    .orderBy(asc(requirementSets.name))
    .limit(limit + 1);
  const { rows, nextCursor } = cutPage(found, limit, (row) => [row.name]);
  return { items: rows.map(toRequirementSet), nextCursor };
}

/** Replaces a set if it still has `version`; null where it does not, or is gone. */
export async function updateRequirementSet(
  db: ProjectDatabase,
  name: string,
  version: number,
  update: RequirementSetUpdate,
): Promise<RequirementSet | null> {
  const [row] = await db
    .update(requirementSets)
    .set({ spec: { name, ...update }, version: version + 1, updatedAtMs: Date.now() })
    .where(and(isNamed(db, name), eq(requirementSets.version, version)))
    .returning();
  return row === undefined ? null : toRequirementSet(row);
}

export async function deleteRequirementSet(db: ProjectDatabase, name: string): Promise<boolean> {
  const gone = await db.delete(requirementSets).where(isNamed(db, name)).returning({ name: requirementSets.name });
  return gone.length > 0;
}
