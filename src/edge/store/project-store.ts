import { and, asc, desc, eq, gt, inArray, isNotNull, isNull, lt } from "drizzle-orm";
import type { AuditEntry, AuditQuery } from "../../protocol/service/key-endpoints.ts";
import { MAIN_PROJECT, type Project } from "../../protocol/service/project.ts";
import { createId } from "../../protocol/wire/id.ts";
import type { PageQuery } from "../../protocol/wire/page.ts";
import { toInstant, toInstantOrNull } from "../clock.ts";
import { cutPage, decodeCursor } from "./cursor.ts";
import type { Database, ProjectDatabase } from "./database.ts";
import {
  auditEntries,
  keys,
  models,
  modelVersions,
  placements,
  projects,
  registrationTokens,
  runners,
  webhookDeliveries,
  webhooks,
} from "./schema.ts";

/** Fields of a finished act. */
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

/** Deletes entries from before `beforeMs`, of all projects. */
export async function pruneAuditEntries(db: Database, beforeMs: number): Promise<void> {
  await db.delete(auditEntries).where(lt(auditEntries.atMs, beforeMs));
}

export interface RunnerOwner {
  readonly project: string;
  /** True if it works for other projects, too. */
  readonly shared: boolean;
}

/** State of a runner that others change. */
export interface RunnerState extends RunnerOwner {
  readonly draining: boolean;
  readonly isRemoved: boolean;
}

/** State of a runner, or its last one if it was removed; null where there never was one. */
export async function readRunnerState(db: Database, id: string): Promise<RunnerState | null> {
  const { project, shared, draining, removedAtMs } = runners;
  const [row] = await db.select({ project, shared, draining, removedAtMs }).from(runners).where(eq(runners.id, id));
  if (row === undefined) return null;
  const { removedAtMs: atMs, ...state } = row;
  return { ...state, isRemoved: atMs !== null };
}

/** Project of a placement's model; null where the runner has no such placement. */
export async function findProjectOfPlacement(db: Database, runnerId: string, id: string): Promise<string | null> {
  const [row] = await db
    .select({ project: models.project })
    .from(placements)
    .innerJoin(modelVersions, eq(modelVersions.id, placements.modelVersionId))
    .innerJoin(models, eq(models.id, modelVersions.modelId))
    .where(and(eq(placements.runnerId, runnerId), eq(placements.id, id)));
  return row?.project ?? null;
}

const MAIN: Project = { name: MAIN_PROJECT, createdAt: null, closedAt: null };

function toProject({ name, createdAtMs, closedAtMs }: typeof projects.$inferSelect): Project {
  return { name, createdAt: toInstant(createdAtMs), closedAt: toInstantOrNull(closedAtMs) };
}

/** Opens a project; null where the name is taken, even by a closed project. */
export async function createProject(db: Database, name: string): Promise<Project | null> {
  if (name === MAIN_PROJECT) return null;
  const row = { name, createdAtMs: Date.now(), closedAtMs: null };
  const created = await db.insert(projects).values(row).onConflictDoNothing().returning();
  return created[0] === undefined ? null : toProject(created[0]);
}

/** Projects by name; the operator's own is on the first page, beyond its limit. */
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

/** True if there is a project of this name, open or closed. */
export async function isProject(db: Database, name: string): Promise<boolean> {
  return name === MAIN_PROJECT || (await db.$count(projects, eq(projects.name, name))) > 0;
}

/** True if keys may be made for a project. */
export async function isProjectOpen(db: Database, name: string): Promise<boolean> {
  if (name === MAIN_PROJECT) return true;
  const rows = await db
    .select({ name: projects.name })
    .from(projects)
    .where(and(eq(projects.name, name), isNull(projects.closedAtMs)));
  return rows.length > 0;
}

/**
 * Closes a project: its keys and tokens stop working, its models are no longer served, and its webhooks get nothing any
 * more. Null where there is none; closing twice keeps the first time.
 */
export async function closeProject(db: Database, name: string): Promise<Project | null> {
  const nowMs = Date.now();
  const versions = db
    .select({ id: modelVersions.id })
    .from(modelVersions)
    .innerJoin(models, eq(models.id, modelVersions.modelId))
    .where(eq(models.project, name));
  const receivers = db.select({ id: webhooks.id }).from(webhooks).where(eq(webhooks.project, name));
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
    db
      .update(webhooks)
      .set({ disabledAtMs: nowMs })
      .where(and(eq(webhooks.project, name), isNull(webhooks.disabledAtMs))),
    db
      .update(webhookDeliveries)
      .set({ nextAtMs: null })
      .where(and(inArray(webhookDeliveries.webhookId, receivers), isNotNull(webhookDeliveries.nextAtMs))),
  ]);
  const [row] = await db.select().from(projects).where(eq(projects.name, name));
  return row === undefined ? null : toProject(row);
}
