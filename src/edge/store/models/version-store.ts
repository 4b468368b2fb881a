import { and, count, eq, isNotNull, isNull, sql } from "drizzle-orm";
import type { Profile } from "../../../protocol/fleet/profile.ts";
import type { PlacementRule } from "../../../protocol/fleet/serving.ts";
import type { ModelSummary, VersionData } from "../../../protocol/models/model.ts";
import type { PolicyCard, PolicyNetwork } from "../../../protocol/models/policy-network.ts";
import type { MeasuredFidelity, Recipe } from "../../../protocol/models/variant.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { deleteUnnamed } from "../artifact-store.ts";
import { type Database, openDatabase, type ProjectDatabase } from "../database.ts";
import { findProfile } from "../fleet/profile-store.ts";
import { models, modelVariants, modelVersions, versionData } from "../schema.ts";

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

/** A rule with the profile that it names; null where that is gone, and nothing fits it. */
export type ResolvedRule =
  | Exclude<PlacementRule, { kind: "profile" }>
  | { readonly kind: "profile"; readonly profile: Profile | null };

export async function resolveRule(db: ProjectDatabase, rule: PlacementRule): Promise<ResolvedRule> {
  return rule.kind === "profile" ? { ...rule, profile: await findProfile(db, rule.profile) } : rule;
}

/** Name of a model that is placed by this profile; null where there is none. */
export async function findModelOfProfile(db: ProjectDatabase, profile: string): Promise<string | null> {
  const [row] = await db
    .select({ name: models.name })
    .from(models)
    .where(and(eq(models.project, db.project), eq(sql`${models.placementRule}->>'profile'`, profile)))
    .limit(1);
  return row?.name ?? null;
}

type Score = PolicyCard["scores"][number];

const CARD_RACES = 100;

/**
 * Adds a score to the top of a version's card, creating the card if needed. A score of the same run is replaced. No
 * concurrent score is lost: a writer that finds a changed card starts again.
 */
export async function addPolicyScore(
  db: Database,
  versionId: string,
  network: PolicyNetwork,
  score: Score,
): Promise<void> {
  for (let race = 0; race < CARD_RACES; race++) {
    const [row] = await db
      .select({ card: modelVersions.card })
      .from(modelVersions)
      .where(eq(modelVersions.id, versionId));
    if (row === undefined) return;
    const known = row.card ?? { environment: score.environment, network, training: null, scores: [] };
    const asRead = row.card === null ? isNull(modelVersions.card) : eq(modelVersions.card, row.card);
    const updated = await db
      .update(modelVersions)
      .set({ card: withScore(known, score) })
      .where(and(eq(modelVersions.id, versionId), asRead))
      .returning({ id: modelVersions.id });
    if (updated.length > 0) return;
  }
  throw new Error(`the card of ${versionId} was written by others all the time`);
}

function withScore(card: PolicyCard, score: Score): PolicyCard {
  const others = card.scores.filter(({ runId }) => runId !== score.runId);
  const scores = [score, ...others].toSorted((a, b) => b.at.localeCompare(a.at)).slice(0, LIMITS.policyScores);
  return { ...card, scores };
}

/** Records a file's summary wherever it was stored without one: the same bytes are the same network. */
export async function learnSummary(db: Database, digest: string, summary: ModelSummary): Promise<void> {
  const uncounted = (table: typeof modelVersions | typeof modelVariants) =>
    and(eq(table.digest, digest), isNull(table.summary));
  await db.batch([
    db.update(modelVersions).set({ summary }).where(uncounted(modelVersions)),
    db.update(modelVariants).set({ summary }).where(uncounted(modelVariants)),
  ]);
}

interface VariantInput {
  readonly modelVersionId: string;
  readonly name: string;
  readonly digest: string;
  readonly sizeBytes: number;
  readonly fidelity: number | null;
  /** Summary of its file, where it was counted. */
  readonly summary?: ModelSummary;
  /** Recipe of a file that a job made. */
  readonly recipe?: Recipe;
  readonly measured?: MeasuredFidelity;
  readonly jobId?: string;
}

/**
 * Adds a file to a version. The same file under the same name is returned as it is; `taken` where another file has the
 * name, `full` where the version's limit is reached.
 */
export async function addVariant(db: Database, input: VariantInput): Promise<"created" | "there" | "taken" | "full"> {
  const ofVersion = eq(modelVariants.modelVersionId, input.modelVersionId);
  const compareKnown = async () => {
    const [known] = await db
      .select({ digest: modelVariants.digest })
      .from(modelVariants)
      .where(and(ofVersion, eq(modelVariants.name, input.name)));
    if (known === undefined) return null;
    return known.digest === input.digest ? "there" : "taken";
  };
  const before = await compareKnown();
  if (before !== null) return before;
  const [stored] = await db.select({ n: count() }).from(modelVariants).where(ofVersion);
  if ((stored?.n ?? 0) + 1 >= LIMITS.variantsPerVersion) return "full";
  const created = await db
    .insert(modelVariants)
    .values({ ...input, createdAtMs: Date.now() })
    .onConflictDoNothing()
    .returning();
  if (created.length > 0) return "created";
  // Another upload was faster, perhaps with the same file.
  return (await compareKnown()) ?? "taken";
}

/** Records a job's new measurement of a variant that a job made; the measurement of an uploader stays. */
export async function noteFidelity(
  db: Database,
  { modelVersionId, name, digest }: Pick<VariantInput, "modelVersionId" | "name" | "digest">,
  { measured, jobId }: { readonly measured: MeasuredFidelity; readonly jobId: string },
): Promise<void> {
  const { modelVersionId: ofVersion, name: named, digest: ofFile, recipe } = modelVariants;
  await db
    .update(modelVariants)
    .set({ fidelity: measured.value, measured, jobId })
    .where(and(eq(ofVersion, modelVersionId), eq(named, name), eq(ofFile, digest), isNotNull(recipe)));
}

/**
 * Records a version's held-out data, whose bytes are stored. The previous file is deleted unless it is named elsewhere.
 */
export async function setVersionData(
  { DB, ARTIFACTS }: { readonly DB: D1Database; readonly ARTIFACTS: R2Bucket },
  modelVersionId: string,
  data: VersionData,
): Promise<void> {
  const db = openDatabase(DB);
  const [before] = await db
    .select({ digest: versionData.digest })
    .from(versionData)
    .where(eq(versionData.modelVersionId, modelVersionId));
  const set = { ...data, createdAtMs: Date.now() };
  await db
    .insert(versionData)
    .values({ modelVersionId, ...set })
    .onConflictDoUpdate({ target: versionData.modelVersionId, set });
  if (before !== undefined && before.digest !== data.digest) await deleteUnnamed(DB, ARTIFACTS, [before.digest]);
}
