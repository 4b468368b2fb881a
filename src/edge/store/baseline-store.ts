import { and, asc, eq, gt } from "drizzle-orm";
import { Baseline, type BaselineInput } from "../../protocol/baseline.ts";
import type { PageQuery } from "../../protocol/page.ts";
import { cutPage, decodeCursor } from "./cursor.ts";
import type { Database } from "./database.ts";
import { toInstant } from "./instant.ts";
import { baselines } from "./schema.ts";

function toBaseline({ name, spec, version, updatedAtMs }: typeof baselines.$inferSelect): Baseline {
  return Baseline.parse({ ...JSON.parse(spec), name, version, updatedAt: toInstant(updatedAtMs) });
}

export async function findBaseline(db: Database, name: string): Promise<Baseline | null> {
  const [row] = await db.select().from(baselines).where(eq(baselines.name, name));
  return row === undefined ? null : toBaseline(row);
}

export async function listBaselines(
  db: Database,
  page: PageQuery,
): Promise<{ items: Baseline[]; nextCursor: string | null }> {
  const after = page.cursor === undefined ? null : String(decodeCursor(page.cursor, 1)[0]);
  const found = await db
    .select()
    .from(baselines)
    .where(after === null ? undefined : gt(baselines.name, after))
    .orderBy(asc(baselines.name))
    .limit(page.limit + 1);
  const { rows, nextCursor } = cutPage(found, page.limit, (row) => [row.name]);
  return { items: rows.map(toBaseline), nextCursor };
}

/** Pins a baseline under a free name; null where it is taken. */
export async function createBaseline(db: Database, name: string, input: BaselineInput): Promise<Baseline | null> {
  const row = { name, spec: JSON.stringify(input), version: 1, updatedAtMs: Date.now() };
  const [inserted] = await db.insert(baselines).values(row).onConflictDoNothing().returning();
  return inserted === undefined ? null : toBaseline(inserted);
}

/** Moves a baseline if it still has `version`; null where it does not (or is gone). */
export async function updateBaseline(
  db: Database,
  name: string,
  version: number,
  input: BaselineInput,
): Promise<Baseline | null> {
  const [row] = await db
    .update(baselines)
    .set({ spec: JSON.stringify(input), version: version + 1, updatedAtMs: Date.now() })
    .where(and(eq(baselines.name, name), eq(baselines.version, version)))
    .returning();
  return row === undefined ? null : toBaseline(row);
}

export async function deleteBaseline(db: Database, name: string): Promise<boolean> {
  const gone = await db.delete(baselines).where(eq(baselines.name, name)).returning({ name: baselines.name });
  return gone.length > 0;
}
