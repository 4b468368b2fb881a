import { and, asc, eq, gt, type SQL, sql } from "drizzle-orm";
import { Baseline, type BaselineInput } from "../../../protocol/history/comparison.ts";
import type { PageQuery } from "../../../protocol/wire/page.ts";
import { cutPage, decodeCursor } from "../cursor.ts";
import type { ProjectDatabase } from "../database.ts";
import { toInstant } from "../../clock.ts";
import { roomFor } from "../quotas/quota-store.ts";
import { baselines } from "../schema.ts";

function toBaseline({ name, spec, version, updatedAtMs }: typeof baselines.$inferSelect): Baseline {
  return Baseline.parse({ ...JSON.parse(spec), name, version, updatedAt: toInstant(updatedAtMs) });
}

function isNamed({ project }: ProjectDatabase, name: string): SQL {
  return and(eq(baselines.project, project), eq(baselines.name, name))!;
}

export async function findBaseline(db: ProjectDatabase, name: string): Promise<Baseline | null> {
  const [row] = await db.select().from(baselines).where(isNamed(db, name));
  return row === undefined ? null : toBaseline(row);
}

export async function listBaselines(
  db: ProjectDatabase,
  page: PageQuery,
): Promise<{ items: Baseline[]; nextCursor: string | null }> {
  const after = page.cursor === undefined ? null : String(decodeCursor(page.cursor, 1)[0]);
  const found = await db
    .select()
    .from(baselines)
    .where(and(eq(baselines.project, db.project), after === null ? undefined : gt(baselines.name, after)))
    .orderBy(asc(baselines.name))
    .limit(page.limit + 1);
  const { rows, nextCursor } = cutPage(found, page.limit, (row) => [row.name]);
  return { items: rows.map(toBaseline), nextCursor };
}

/** Pins a baseline under a free name; null where it is taken, or the project's quota is used up. */
export async function createBaseline(
  db: ProjectDatabase,
  name: string,
  input: BaselineInput,
): Promise<Baseline | null> {
  const row = { project: db.project, name, spec: JSON.stringify(input), version: 1, updatedAtMs: Date.now() };
  const { meta } = await db.run(sql`
    insert into baselines (project, name, spec, version, updated_at_ms)
    select ${row.project}, ${name}, ${row.spec}, ${row.version}, ${row.updatedAtMs} where ${roomFor(db, "baselines")}
    on conflict do nothing`);
  return meta.changes === 0 ? null : toBaseline(row);
}

/** Moves a baseline if it still has `version`; null where it does not (or is gone). */
export async function updateBaseline(
  db: ProjectDatabase,
  name: string,
  version: number,
  input: BaselineInput,
): Promise<Baseline | null> {
  const [row] = await db
    .update(baselines)
    .set({ spec: JSON.stringify(input), version: version + 1, updatedAtMs: Date.now() })
    .where(and(isNamed(db, name), eq(baselines.version, version)))
    .returning();
  return row === undefined ? null : toBaseline(row);
}

export async function deleteBaseline(db: ProjectDatabase, name: string): Promise<boolean> {
  const gone = await db.delete(baselines).where(isNamed(db, name)).returning({ name: baselines.name });
  return gone.length > 0;
}
