import { desc, eq, lt, or } from "drizzle-orm";
import { createId } from "../../protocol/id.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { PageQuery } from "../../protocol/page.ts";
import { Population } from "../../protocol/population.ts";
import { cutPage, decodeCursor } from "./cursor.ts";
import { type Database, openDatabase } from "./database.ts";
import { toInstant } from "./instant.ts";
import { populations } from "./schema.ts";

type Row = typeof populations.$inferSelect;

function toPopulation({ id, name, digest, sizeBytes, layout, createdAtMs }: Row): Population {
  return Population.parse({ ...layout, id, name, digest, sizeBytes, createdAt: toInstant(createdAtMs) });
}

/**
 * Stores a population whose file is there. The same under the same name is the one that is there already; another
 * under it is `taken`, and where there are as many as there may be, it is `full`.
 */
export async function addPopulation(
  binding: D1Database,
  { name, digest, sizeBytes, ...layout }: Omit<Population, "id" | "createdAt">,
): Promise<{ population: Population; created: boolean } | "taken" | "full"> {
  const row: Row = { id: createId("population"), name, digest, sizeBytes, layout, createdAtMs: Date.now() };
  const { meta } = await binding
    .prepare(
      `insert into populations (id, name, digest, size_bytes, layout, created_at_ms) select ?1, ?2, ?3, ?4, ?5, ?6
       where (select count(*) from populations) < ?7 on conflict do nothing`,
    )
    .bind(row.id, name, digest, sizeBytes, JSON.stringify(layout), row.createdAtMs, LIMITS.populations)
    .run();
  if (meta.changes > 0) return { population: toPopulation(row), created: true };
  const known = name === null ? null : await findPopulation(openDatabase(binding), name);
  if (known === null) return "full";
  const isSame = known.digest === digest && JSON.stringify(known.network) === JSON.stringify(layout.network);
  return isSame ? { population: known, created: false } : "taken";
}

/** By id or name. */
export async function findPopulation(db: Database, nameOrId: string): Promise<Population | null> {
  const [row] = await db
    .select()
    .from(populations)
    .where(or(eq(populations.id, nameOrId), eq(populations.name, nameOrId)));
  return row === undefined ? null : toPopulation(row);
}

/** Populations, newest first. */
export async function listPopulations(
  db: Database,
  page: PageQuery,
): Promise<{ items: Population[]; nextCursor: string | null }> {
  const after = page.cursor === undefined ? undefined : lt(populations.id, String(decodeCursor(page.cursor, 1)[0]));
  const found = await db
    .select()
    .from(populations)
    .where(after)
    .orderBy(desc(populations.id))
    .limit(page.limit + 1);
  const { rows, nextCursor } = cutPage(found, page.limit, (row) => [row.id]);
  return { items: rows.map(toPopulation), nextCursor };
}

export async function removePopulation(db: Database, id: string): Promise<void> {
  await db.delete(populations).where(eq(populations.id, id));
}
