import { and, desc, eq, lt, or, sql } from "drizzle-orm";
import { createId } from "../../../protocol/wire/id.ts";
import type { PageQuery } from "../../../protocol/wire/page.ts";
import { Population } from "../../../protocol/policies/population.ts";
import { cutPage, decodeCursor } from "../cursor.ts";
import type { ProjectDatabase } from "../database.ts";
import { toInstant } from "../../clock.ts";
import { roomFor } from "../quotas/quota-store.ts";
import { populations } from "../schema.ts";

type Row = typeof populations.$inferSelect;

function toPopulation({ id, name, digest, sizeBytes, layout, createdAtMs }: Row): Population {
  return Population.parse({ ...layout, id, name, digest, sizeBytes, createdAt: toInstant(createdAtMs) });
}

/**
 * Stores a population whose file is stored. An equal one under the same name is returned as it is; `taken` for another
 * one under it, `full` where the project's quota is used up.
 */
export async function addPopulation(
  db: ProjectDatabase,
  { name, digest, sizeBytes, ...layout }: Omit<Population, "id" | "createdAt">,
): Promise<{ population: Population; created: boolean } | "taken" | "full"> {
  const { project } = db;
  const row: Row = { id: createId("population"), project, name, digest, sizeBytes, layout, createdAtMs: Date.now() };
  const { meta } = await db.run(sql`
    insert into populations (id, project, name, digest, size_bytes, layout, created_at_ms)
    select ${row.id}, ${project}, ${name}, ${digest}, ${sizeBytes}, ${JSON.stringify(layout)}, ${row.createdAtMs}
    where ${roomFor(db, "populations")}
    on conflict do nothing`);
  if (meta.changes > 0) return { population: toPopulation(row), created: true };
  const known = name === null ? null : await findPopulation(db, name);
  if (known === null) return "full";
  const isSame = known.digest === digest && JSON.stringify(known.network) === JSON.stringify(layout.network);
  return isSame ? { population: known, created: false } : "taken";
}

/** Finds a population by id or name. */
export async function findPopulation(db: ProjectDatabase, nameOrId: string): Promise<Population | null> {
  const [row] = await db
    .select()
    .from(populations)
    .where(and(eq(populations.project, db.project), or(eq(populations.id, nameOrId), eq(populations.name, nameOrId))));
  return row === undefined ? null : toPopulation(row);
}

/** Populations, newest first. */
export async function listPopulations(
  db: ProjectDatabase,
  page: PageQuery,
): Promise<{ items: Population[]; nextCursor: string | null }> {
  const after = page.cursor === undefined ? undefined : lt(populations.id, String(decodeCursor(page.cursor, 1)[0]));
  const found = await db
    .select()
    .from(populations)
    .where(and(eq(populations.project, db.project), after))
    .orderBy(desc(populations.id))
    .limit(page.limit + 1);
  const { rows, nextCursor } = cutPage(found, page.limit, (row) => [row.id]);
  return { items: rows.map(toPopulation), nextCursor };
}

/** Whether the project has a population of exactly this size, as one has that is uploaded again. */
export async function hasPopulationOfSize(db: ProjectDatabase, sizeBytes: number): Promise<boolean> {
  const { id, project, sizeBytes: size } = populations;
  const rows = await db
    .select({ id })
    .from(populations)
    .where(and(eq(project, db.project), eq(size, sizeBytes)))
    .limit(1);
  return rows.length > 0;
}

export async function removePopulation(db: ProjectDatabase, id: string): Promise<void> {
  await db.delete(populations).where(and(eq(populations.project, db.project), eq(populations.id, id)));
}
