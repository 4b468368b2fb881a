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

/** The name of a model that is placed by this profile; null where there is none. */
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
 * Puts a score on top of a version's card, which begins with it where there is none. The same run's again replaces it.
 * Of several at once none is lost: whoever finds another card than was read begins again.
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

/** Notes what a file is made of wherever it was stored before anybody counted: the same bytes are the same network. */
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
  /** What its file is made of, where somebody counted. */
  readonly summary?: ModelSummary;
  /** Of one that a job made. */
  readonly recipe?: Recipe;
  readonly measured?: MeasuredFidelity;
  readonly jobId?: string;
}

/**
 * Adds a file to a version. The same file under the same name gives what is there; `taken` where the name
 * is another file's, `full` where the version has all that it may have.
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
  // Somebody else was faster, with the same file perhaps.
  return (await compareKnown()) ?? "taken";
}

/** What a job measured anew of a variant that a job made; what an uploader said of his stays. */
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

/** Notes what a version is measured on, whose bytes are stored; the file that was it before goes, unless something else has it. */
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
