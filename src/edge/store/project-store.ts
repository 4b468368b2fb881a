import { and, asc, eq, gt, inArray, isNull } from "drizzle-orm";
import type { PageQuery } from "../../protocol/page.ts";
import { MAIN_PROJECT, type Project } from "../../protocol/project.ts";
import { cutPage, decodeCursor } from "./cursor.ts";
import type { Database } from "./database.ts";
import { toInstant, toInstantOrNull } from "./instant.ts";
import { keys, models, modelVersions, placements, projects, registrationTokens } from "./schema.ts";

const MAIN: Project = { name: MAIN_PROJECT, createdAt: null, closedAt: null };

function toProject({ name, createdAtMs, closedAtMs }: typeof projects.$inferSelect): Project {
  return { name, createdAt: toInstant(createdAtMs), closedAt: toInstantOrNull(closedAtMs) };
}

/** Opens a project; null where the name is taken, if only by one that was closed. */
export async function createProject(db: Database, name: string): Promise<Project | null> {
  if (name === MAIN_PROJECT) return null;
  const row = { name, createdAtMs: Date.now(), closedAtMs: null };
  const created = await db.insert(projects).values(row).onConflictDoNothing().returning();
  return created[0] === undefined ? null : toProject(created[0]);
}

/** Projects by name; the operator's own stands on the first page, beyond its limit. */
export async function listProjects(
  db: Database,
  page: PageQuery,
): Promise<{ items: Project[]; nextCursor: string | null }> {
  const after = page.cursor === undefined ? null : String(decodeCursor(page.cursor, 1)[0]);
  const found = await db
    .select()
    .from(projects)
    .where(after === null ? undefined : gt(projects.name, after))
    .orderBy(asc(projects.name))
    .limit(page.limit + 1);
  const { rows, nextCursor } = cutPage(found, page.limit, (row) => [row.name]);
  return { items: [...(after === null ? [MAIN] : []), ...rows.map(toProject)], nextCursor };
}

/** Whether keys may be made for a project. */
export async function isProjectOpen(db: Database, name: string): Promise<boolean> {
  if (name === MAIN_PROJECT) return true;
  const rows = await db
    .select({ name: projects.name })
    .from(projects)
    .where(and(eq(projects.name, name), isNull(projects.closedAtMs)));
  return rows.length > 0;
}

/**
 * Ends a project: its keys and tokens open nothing any more, and its models are served nowhere. Null where there is
 * none; closing twice keeps the first time.
 */
export async function closeProject(db: Database, name: string): Promise<Project | null> {
  const nowMs = Date.now();
  const versions = db
    .select({ id: modelVersions.id })
    .from(modelVersions)
    .innerJoin(models, eq(models.id, modelVersions.modelId))
    .where(eq(models.project, name));
  await db.batch([
    db
      .update(projects)
      .set({ closedAtMs: nowMs })
      .where(and(eq(projects.name, name), isNull(projects.closedAtMs))),
    db
      .update(keys)
      .set({ revokedAtMs: nowMs })
      .where(and(eq(keys.project, name), isNull(keys.revokedAtMs))),
    db
      .delete(registrationTokens)
      .where(and(eq(registrationTokens.project, name), isNull(registrationTokens.usedByRunnerId))),
    db.delete(placements).where(inArray(placements.modelVersionId, versions)),
  ]);
  const [row] = await db.select().from(projects).where(eq(projects.name, name));
  return row === undefined ? null : toProject(row);
}
