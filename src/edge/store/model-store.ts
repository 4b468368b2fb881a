import { and, asc, count, desc, eq, inArray, lt, max, or } from "drizzle-orm";
import { createId } from "../../protocol/id.ts";
import type { PlacedModel } from "../../protocol/link.ts";
import { LIMITS } from "../../protocol/limits.ts";
import {
  FIRST_VARIANT,
  type Model,
  type ModelVariant,
  type ModelVersion,
  type TensorSpec,
} from "../../protocol/model.ts";
import type { PageQuery } from "../../protocol/page.ts";
import { AUTOMATIC, type PlacementRule } from "../../protocol/placement-rule.ts";
import { cutPage, decodeCursor } from "./cursor.ts";
import { type Database, listOf } from "./database.ts";
import { toInstant } from "./instant.ts";
import { models, modelVariants, modelVersions } from "./schema.ts";

type ModelRow = typeof models.$inferSelect;
type VersionRow = typeof modelVersions.$inferSelect;
type VariantRow = typeof modelVariants.$inferSelect;

/** A version with the further files that it has. */
type FullRow = VersionRow & { readonly variants: readonly VariantRow[] };

function toVersion({ variants, ...row }: FullRow): ModelVersion {
  const { id, version, digest, sizeBytes, inputs, outputs, edgeParameters, createdAtMs } = row;
  const own = { name: FIRST_VARIANT, digest, sizeBytes, fidelity: 1, createdAtMs };
  const all = [own, ...variants].map(toVariant);
  const createdAt = toInstant(createdAtMs);
  return { id, version, digest, sizeBytes, inputs, outputs, edgeParameters, variants: all, createdAt };
}

function toVariant({
  name,
  digest,
  sizeBytes,
  fidelity,
  createdAtMs,
}: Omit<VariantRow, "modelVersionId">): ModelVariant {
  return { name, digest, sizeBytes, fidelity, createdAt: toInstant(createdAtMs) };
}

function toModel(row: ModelRow, versions: readonly FullRow[]): Model {
  const { id, name, placementRule, createdAtMs } = row;
  const placement = placementRule ?? AUTOMATIC;
  return { id, name, placement, createdAt: toInstant(createdAtMs), versions: versions.map(toVersion) };
}

/** What a runner is told of a version. */
export function toPlacedModel({ id, variants, inputs, outputs }: ModelVersion): PlacedModel {
  return { modelVersionId: id, variants: variants.map(({ name, digest }) => ({ name, digest })), inputs, outputs };
}

async function readVersions(db: Database, modelIds: string[]): Promise<Map<string, FullRow[]>> {
  const rows = await db
    .select()
    .from(modelVersions)
    .where(inArray(modelVersions.modelId, listOf(modelIds)))
    .orderBy(asc(modelVersions.version));
  return Map.groupBy(await addVariants(db, rows), (row) => row.modelId);
}

async function addVariants<Row extends VersionRow>(
  db: Database,
  rows: readonly Row[],
): Promise<(Row & Pick<FullRow, "variants">)[]> {
  const ids = rows.map(({ id }) => id);
  const found = await db
    .select()
    .from(modelVariants)
    .where(inArray(modelVariants.modelVersionId, listOf(ids)))
    .orderBy(asc(modelVariants.createdAtMs), asc(modelVariants.name));
  const byVersion = Map.groupBy(found, ({ modelVersionId }) => modelVersionId);
  return rows.map((row) => ({ ...row, variants: byVersion.get(row.id) ?? [] }));
}

export interface VersionInput {
  readonly name: string;
  readonly digest: string;
  readonly sizeBytes: number;
  readonly inputs: TensorSpec[];
  readonly outputs: TensorSpec[];
  /** Null where the edge cannot compute it by itself. */
  readonly edgeParameters: number | null;
}

const VERSION_RACES = 5;

/**
 * Adds a version to a model, which is created where it is new. The same bytes give the version that
 * is there. Two uploads at once get two numbers: the loser of the race takes the next.
 */
export async function addModelVersion(
  db: Database,
  input: VersionInput,
): Promise<{ model: Model; version: ModelVersion; created: boolean }> {
  const nowMs = Date.now();
  await db
    .insert(models)
    .values({ id: createId("model"), name: input.name, createdAtMs: nowMs })
    .onConflictDoNothing();
  const [model] = await db.select().from(models).where(eq(models.name, input.name));
  if (model === undefined) throw new Error(`model ${input.name} vanished while it was created`);
  const { digest, sizeBytes, inputs, outputs, edgeParameters } = input;
  for (let race = 0; race < VERSION_RACES; race++) {
    const [latest] = await db
      .select({ version: max(modelVersions.version) })
      .from(modelVersions)
      .where(eq(modelVersions.modelId, model.id));
    const version = (latest?.version ?? 0) + 1;
    const id = createId("modelVersion");
    const file = { digest, sizeBytes, inputs, outputs, edgeParameters };
    const row = { id, modelId: model.id, version, ...file, createdAtMs: nowMs };
    const created = await db.insert(modelVersions).values(row).onConflictDoNothing().returning();
    const versions = (await readVersions(db, [model.id])).get(model.id) ?? [];
    const stored = created[0] ?? versions.find((known) => known.digest === digest);
    if (stored !== undefined) {
      return {
        model: toModel(model, versions),
        version: toVersion({ variants: [], ...stored }),
        created: created.length > 0,
      };
    }
  }
  throw new Error(`no version number was free for ${input.name}`);
}

export async function listModels(
  db: Database,
  page: PageQuery,
): Promise<{ items: Model[]; nextCursor: string | null }> {
  const after = page.cursor === undefined ? undefined : lt(models.id, String(decodeCursor(page.cursor, 1)[0]));
  const found = await db
    .select()
    .from(models)
    .where(after)
    .orderBy(desc(models.id))
    .limit(page.limit + 1);
  const { rows, nextCursor } = cutPage(found, page.limit, (row) => [row.id]);
  const versions = await readVersions(
    db,
    rows.map((row) => row.id),
  );
  return { items: rows.map((row) => toModel(row, versions.get(row.id) ?? [])), nextCursor };
}

/** A model by name or id. */
export async function findModel(db: Database, nameOrId: string): Promise<Model | null> {
  const [row] = await db
    .select()
    .from(models)
    .where(or(eq(models.name, nameOrId), eq(models.id, nameOrId)));
  if (row === undefined) return null;
  return toModel(row, (await readVersions(db, [row.id])).get(row.id) ?? []);
}

/** A version with name and id of its model and where that is placed. */
export interface NamedVersion extends ModelVersion {
  readonly model: string;
  readonly modelId: string;
  readonly placement: PlacementRule;
}

export async function findModelVersion(db: Database, versionId: string): Promise<NamedVersion | null> {
  const [row] = await db
    .select({ version: modelVersions, model: models.name, placement: models.placementRule })
    .from(modelVersions)
    .innerJoin(models, eq(models.id, modelVersions.modelId))
    .where(eq(modelVersions.id, versionId));
  if (row === undefined) return null;
  const [version] = await addVariants(db, [row.version]);
  const { modelId } = row.version;
  return { ...toVersion(version!), model: row.model, modelId, placement: row.placement ?? AUTOMATIC };
}

interface VariantInput {
  readonly modelVersionId: string;
  readonly name: string;
  readonly digest: string;
  readonly sizeBytes: number;
  readonly fidelity: number | null;
}

/**
 * Adds a file to a version. The same file under the same name gives what is there; `taken` where the name
 * is another file's, `full` where the version has all that it may have.
 */
export async function addVariant(db: Database, input: VariantInput): Promise<"created" | "there" | "taken" | "full"> {
  const ofVersion = eq(modelVariants.modelVersionId, input.modelVersionId);
  const [known] = await db
    .select()
    .from(modelVariants)
    .where(and(ofVersion, eq(modelVariants.name, input.name)));
  if (known !== undefined) return known.digest === input.digest ? "there" : "taken";
  const [stored] = await db.select({ n: count() }).from(modelVariants).where(ofVersion);
  if ((stored?.n ?? 0) + 1 >= LIMITS.variantsPerVersion) return "full";
  const created = await db
    .insert(modelVariants)
    .values({ ...input, createdAtMs: Date.now() })
    .onConflictDoNothing()
    .returning();
  return created.length > 0 ? "created" : "taken";
}

/** Versions that have these bytes. */
export async function readVersionsOfDigest(db: Database, digest: string): Promise<string[]> {
  const [own, further] = await Promise.all([
    db.select({ id: modelVersions.id }).from(modelVersions).where(eq(modelVersions.digest, digest)),
    db.select({ id: modelVariants.modelVersionId }).from(modelVariants).where(eq(modelVariants.digest, digest)),
  ]);
  return [...new Set([...own, ...further].map(({ id }) => id))];
}

/** Every version of every model; the snapshot of placements is made of it. */
export async function readAllVersions(db: Database): Promise<NamedVersion[]> {
  const rows = await db
    .select({ version: modelVersions, model: models.name, placement: models.placementRule })
    .from(modelVersions)
    .innerJoin(models, eq(models.id, modelVersions.modelId))
    .orderBy(asc(modelVersions.version));
  const versions = await addVariants(
    db,
    rows.map(({ version, model, placement }) => ({ ...version, model, placement: placement ?? AUTOMATIC })),
  );
  return versions.map(({ model, modelId, placement, ...row }) => ({
    ...toVersion({ ...row, modelId }),
    model,
    modelId,
    placement,
  }));
}
