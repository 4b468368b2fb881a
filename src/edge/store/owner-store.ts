import { and, eq } from "drizzle-orm";
import type { Database } from "./database.ts";
import { models, modelVersions, placements, runners } from "./schema.ts";

/** Whose things are, for the house, which knows them by ids alone. */

export interface RunnerOwner {
  readonly project: string;
  /** Whether it works for other projects, too. */
  readonly shared: boolean;
}

/** Whose runner it is, or was before it was removed; null where there never was one. */
export async function findOwnerOfRunner(db: Database, id: string): Promise<RunnerOwner | null> {
  const [row] = await db
    .select({ project: runners.project, shared: runners.shared })
    .from(runners)
    .where(eq(runners.id, id));
  return row ?? null;
}

/** Whose model it is a placement of; null where the runner has none of that id. */
export async function findProjectOfPlacement(db: Database, runnerId: string, id: string): Promise<string | null> {
  const [row] = await db
    .select({ project: models.project })
    .from(placements)
    .innerJoin(modelVersions, eq(modelVersions.id, placements.modelVersionId))
    .innerJoin(models, eq(models.id, modelVersions.modelId))
    .where(and(eq(placements.runnerId, runnerId), eq(placements.id, id)));
  return row?.project ?? null;
}
