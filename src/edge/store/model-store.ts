import { asc, desc, eq, inArray, lt, max, or } from "drizzle-orm";
import { createId } from "../../protocol/id.ts";
import type { Model, ModelVersion, TensorSpec } from "../../protocol/model.ts";
import type { PageQuery } from "../../protocol/page.ts";
import { cutPage, decodeCursor } from "./cursor.ts";
import { type Database, listOf } from "./database.ts";
import { toInstant } from "./instant.ts";
import { models, modelVersions } from "./schema.ts";

type ModelRow = typeof models.$inferSelect;
type VersionRow = typeof modelVersions.$inferSelect;

function toVersion(row: VersionRow): ModelVersion {
  const { id, version, digest, sizeBytes, inputs, outputs } = row;
  return { id, version, digest, sizeBytes, inputs, outputs, createdAt: toInstant(row.createdAtMs) };
}

function toModel(row: ModelRow, versions: readonly VersionRow[]): Model {
  return { id: row.id, name: row.name, createdAt: toInstant(row.createdAtMs), versions: versions.map(toVersion) };
}

async function readVersions(db: Database, modelIds: string[]): Promise<Map<string, VersionRow[]>> {
  const rows = await db
    .select()
    .from(modelVersions)
    .where(inArray(modelVersions.modelId, listOf(modelIds)))
    .orderBy(asc(modelVersions.version));
  return Map.groupBy(rows, (row) => row.modelId);
}

export interface VersionInput {
  readonly name: string;
  readonly digest: string;
  readonly sizeBytes: number;
  readonly inputs: TensorSpec[];
  readonly outputs: TensorSpec[];
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
  const { digest, sizeBytes, inputs, outputs } = input;
  for (let race = 0; race < VERSION_RACES; race++) {
    const [latest] = await db
      .select({ version: max(modelVersions.version) })
      .from(modelVersions)
      .where(eq(modelVersions.modelId, model.id));
    const version = (latest?.version ?? 0) + 1;
    const id = createId("modelVersion");
    const row = { id, modelId: model.id, version, digest, sizeBytes, inputs, outputs, createdAtMs: nowMs };
    const created = await db.insert(modelVersions).values(row).onConflictDoNothing().returning();
    const versions = (await readVersions(db, [model.id])).get(model.id) ?? [];
    const stored = created[0] ?? versions.find((known) => known.digest === digest);
    if (stored !== undefined) {
      return { model: toModel(model, versions), version: toVersion(stored), created: created.length > 0 };
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

/** A version with the name of its model. */
export interface NamedVersion extends ModelVersion {
  readonly model: string;
}

export async function findModelVersion(db: Database, versionId: string): Promise<NamedVersion | null> {
  const [row] = await db
    .select({ version: modelVersions, model: models.name })
    .from(modelVersions)
    .innerJoin(models, eq(models.id, modelVersions.modelId))
    .where(eq(modelVersions.id, versionId));
  return row === undefined ? null : { ...toVersion(row.version), model: row.model };
}

/** Versions that have these bytes. */
export async function readVersionsOfDigest(db: Database, digest: string): Promise<string[]> {
  const rows = await db.select({ id: modelVersions.id }).from(modelVersions).where(eq(modelVersions.digest, digest));
  return rows.map(({ id }) => id);
}

/** Every version of every model; the snapshot of placements is made of it. */
export async function readAllVersions(db: Database): Promise<(NamedVersion & { modelId: string })[]> {
  const rows = await db
    .select({ version: modelVersions, model: models.name })
    .from(modelVersions)
    .innerJoin(models, eq(models.id, modelVersions.modelId))
    .orderBy(asc(modelVersions.version));
  return rows.map((row) => ({ ...toVersion(row.version), model: row.model, modelId: row.version.modelId }));
}
