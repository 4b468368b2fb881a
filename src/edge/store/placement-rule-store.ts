import { and, eq, sql } from "drizzle-orm";
import type { PlacementRule } from "../../protocol/placement-rule.ts";
import type { ResolvedRule } from "../budget/is-placed-here.ts";
import type { ProjectDatabase } from "./database.ts";
import { findProfile } from "./profile-store.ts";
import { models } from "./schema.ts";

export async function setPlacementRule(
  db: ProjectDatabase,
  modelId: string,
  placementRule: PlacementRule,
): Promise<void> {
  await db
    .update(models)
    .set({ placementRule })
    .where(and(eq(models.project, db.project), eq(models.id, modelId)));
}

export async function resolveRule(db: ProjectDatabase, rule: PlacementRule): Promise<ResolvedRule> {
  return rule.kind === "profile" ? { ...rule, profile: await findProfile(db, rule.profile) } : rule;
}

/** The name of a model that is placed by this profile; null where there is none. */
export async function findModelOfProfile(db: ProjectDatabase, profile: string): Promise<string | null> {
  const [row] = await db
    .select({ name: models.name })
    .from(models)
    .where(and(eq(models.project, db.project), eq(sql`${models.placementRule}->>'profile'`, profile)))
    .limit(1);
  return row?.name ?? null;
}
