import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  inArray,
  isNotNull,
  isNull,
  lt,
  ne,
  notInArray,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import { createId } from "../../../protocol/wire/id.ts";
import type { CalibrationResult } from "../../../protocol/jobs/calibration.ts";
import type { PlacedModel } from "../../../protocol/link.ts";
import {
  FIRST_VARIANT,
  type Model,
  type ModelSummary,
  type ModelVariant,
  type ModelVersion,
  type TensorSpec,
  type VersionData,
} from "../../../protocol/models/model.ts";
import type { ModelFile } from "../../../protocol/models/upload.ts";
import type { PageQuery } from "../../../protocol/wire/page.ts";
import type { PolicyCard } from "../../../protocol/models/policy-network.ts";
import { AUTOMATIC, type PlacementRule } from "../../../protocol/fleet/serving.ts";
import { cutPage, decodeCursor } from "../cursor.ts";
import { type Database, listOf, type ProjectDatabase } from "../database.ts";
import { toInstant } from "../../clock.ts";
import { listBackends } from "./list-backends.ts";
import { roomFor } from "../quotas/quota-store.ts";
import { models, modelVariants, modelVersions, projects, versionData } from "../schema.ts";
import { learnSummary } from "./version-store.ts";

type ModelRow = typeof models.$inferSelect;
type VersionRow = typeof modelVersions.$inferSelect;
type VariantRow = typeof modelVariants.$inferSelect;

/** A version with its further files and its held-out data. */
type FullRow = VersionRow & { readonly variants: readonly VariantRow[]; readonly data: VersionData | null };
type ServedRow = Omit<FullRow, "card" | "data">;
type ServedVersion = Omit<ModelVersion, "card" | "data">;

function toVersion({ variants, ...row }: FullRow): ModelVersion {
  return { ...toServedVersion({ variants, ...row }), card: row.card, data: row.data };
}

/** Origin of the version's own file. */
const NOT_MADE = { recipe: null, measured: null, jobId: null } as const;

/** Fields of a version for serving. */
function toServedVersion({ variants, ...row }: ServedRow): ServedVersion {
  const { id, version, digest, sizeBytes, inputs, outputs, edgeParameters, summary, createdAtMs } = row;
  const files = row.files ?? [];
  const own = { name: FIRST_VARIANT, digest, sizeBytes, fidelity: 1, summary, createdAtMs, ...NOT_MADE };
  const all = [own, ...variants].map(toVariant);
  const createdAt = toInstant(createdAtMs);
  const facts = { inputs, outputs, edgeParameters, summary, files };
  return { id, version, digest, sizeBytes, ...facts, backends: listBackends(facts), variants: all, createdAt };
}

function toVariant(row: Omit<VariantRow, "modelVersionId">): ModelVariant {
  const { name, digest, sizeBytes, fidelity, summary, recipe, measured, jobId, createdAtMs } = row;
  return { name, digest, sizeBytes, fidelity, summary, recipe, measured, jobId, createdAt: toInstant(createdAtMs) };
}

function toModel(row: ModelRow, versions: readonly FullRow[]): Model {
  const { id, name, placementRule, createdAtMs } = row;
  const placement = placementRule ?? AUTOMATIC;
  return { id, name, placement, createdAt: toInstant(createdAtMs), versions: versions.map(toVersion) };
}

type Place = NonNullable<PlacedModel["places"]>[number];

/** A version and its placements on a runner, in the form for that runner. */
export function toPlacedModel(
  { id, variants, inputs, outputs, files, tenant }: NamedVersion,
  places: readonly Required<Place>[],
): PlacedModel {
  return {
    modelVersionId: id,
    variants: variants.map(({ name, digest, sizeBytes }, index) => ({
      name,
      digest,
      sizeBytes,
      ...(index === 0 && files.length > 0 && { files }),
    })),
    inputs,
    outputs,
    tenant,
    places: places.map(({ deviceKey, variant, configuration }) => ({ deviceKey, variant, configuration })),
  };
}

async function readVersions(db: Database, modelIds: string[]): Promise<Map<string, FullRow[]>> {
  const rows = await db
    .select()
    .from(modelVersions)
    .where(inArray(modelVersions.modelId, listOf(modelIds)))
    .orderBy(asc(modelVersions.version));
  const full = await addData(db, await addVariants(db, rows));
  return Map.groupBy(full, (row) => row.modelId);
}

async function addData<Row extends Pick<VersionRow, "id">>(
  db: Database,
  rows: readonly Row[],
): Promise<(Row & Pick<FullRow, "data">)[]> {
  const ids = rows.map(({ id }) => id);
  const found = await db
    .select()
    .from(versionData)
    .where(inArray(versionData.modelVersionId, listOf(ids)));
  const byVersion = new Map(
    found.map(({ modelVersionId, digest, sizeBytes, rows: count, metric }) => [
      modelVersionId,
      { digest, sizeBytes, rows: count, metric },
    ]),
  );
  return rows.map((row) => ({ ...row, data: byVersion.get(row.id) ?? null }));
}

async function addVariants<Row extends Pick<VersionRow, "id">>(
  db: Database,
  rows: readonly Row[],
): Promise<(Row & Pick<FullRow, "variants">)[]> {
  if (rows.length === 0) return [];
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
  /** Summary of its file, where it was counted. */
  readonly summary?: ModelSummary;
  /** Its files, if it is a large model. */
  readonly files?: ModelFile[];
  /** Its card; an existing version keeps a card that it has. */
  readonly card?: PolicyCard;
}

/**
 * Adds a version to a model, which is created if new; null where the project's quota of models or versions is used up.
 * The same bytes return the existing version. `learnt` says whether this upload added to an existing version: that the
 * edge can compute it, or at which sizes its inputs are measured. Simultaneous uploads get numbers in a row.
 */
export async function addModelVersion(
  db: ProjectDatabase,
  input: VersionInput,
): Promise<{ model: Model; version: ModelVersion; created: boolean; learnt: boolean } | null> {
  const nowMs = Date.now();
  const model = await openModel(db, input.name, nowMs);
  if (model === null) return null;
  const { digest, sizeBytes, inputs, outputs, edgeParameters, summary = null, card = null, files = null } = input;
  if (summary !== null) await learnSummary(db, digest, summary);
  if (card !== null) await addCard(db, model.id, digest, card);
  const isDense = edgeParameters !== null && (await learnEdgeParameters(db, model.id, digest, edgeParameters));
  const isSized = inputs.some(hasSizes) && (await setInputs(db, model.id, digest, inputs));
  const learnt = isDense || isSized;
  const id = createId("modelVersion");
  const file = { digest, sizeBytes, inputs, outputs, edgeParameters, summary, card, files };
  const created = await insertVersion(db, { id, modelId: model.id, ...file, createdAtMs: nowMs });
  const versions = (await readVersions(db, [model.id])).get(model.id) ?? [];
  const stored = versions.find((known) => known.id === id || known.digest === digest);
  if (stored === undefined) return null;
  return { model: toModel(model, versions), version: toVersion(stored), created, learnt };
}

/** The model of this name, which is created if new and the project has room for it and its first version. */
async function openModel(db: ProjectDatabase, name: string, nowMs: number): Promise<ModelRow | null> {
  const { project } = db;
  await db.run(sql`
    insert into models (id, project, name, created_at_ms) select ${createId("model")}, ${project}, ${name}, ${nowMs}
    where ${roomFor(db, "models")} and ${roomFor(db, "versions")} on conflict do nothing`);
  const [model] = await db
    .select()
    .from(models)
    .where(and(eq(models.project, project), eq(models.name, name)));
  return model ?? null;
}

/**
 * Stores a version under the next number, unless its file is there or the quota is used up; returns whether it did. The
 * number is counted within the statement, so that no other upload comes between.
 */
async function insertVersion(db: ProjectDatabase, row: Omit<VersionRow, "version">): Promise<boolean> {
  const { id, modelId, digest, sizeBytes, edgeParameters, createdAtMs } = row;
  const [inputs, outputs, summary, files, card] = [row.inputs, row.outputs, row.summary, row.files, row.card].map(
    (value) => (value === null ? null : JSON.stringify(value)),
  );
  const { meta } = await db.run(sql`
    insert into model_versions (id, model_id, version, digest, size_bytes, inputs, outputs, edge_parameters, summary,
      files, card, created_at_ms)
    select ${id}, ${modelId},
      (select coalesce(max(version), 0) + 1 from model_versions where model_id = ${modelId}),
      ${digest}, ${sizeBytes}, ${inputs}, ${outputs}, ${edgeParameters}, ${summary}, ${files}, ${card}, ${createdAtMs}
    where ${roomFor(db, "versions")} on conflict do nothing`);
  return meta.changes > 0;
}

function hasSizes({ shapes, values }: TensorSpec): boolean {
  return shapes !== undefined || values !== undefined;
}

/** Sets the inputs of an existing version, whose sizes may be new; returns whether they are. */
async function setInputs(db: Database, modelId: string, digest: string, inputs: TensorSpec[]): Promise<boolean> {
  const { id, modelId: ofModel, digest: ofFile, inputs: known } = modelVersions;
  const updated = await db
    .update(modelVersions)
    .set({ inputs })
    .where(and(eq(ofModel, modelId), eq(ofFile, digest), ne(known, inputs)))
    .returning({ id });
  return updated.length > 0;
}

/** Keeps the shapes that a calibration found for the inputs of a version, unless some are known. */
export async function learnShapes(
  db: Database,
  { id, inputs }: Pick<ModelVersion, "id" | "inputs">,
  found: NonNullable<CalibrationResult["shapes"]>,
): Promise<void> {
  if (inputs.some(({ shapes }) => shapes !== undefined)) return;
  const sized = inputs.map((spec) => (Object.hasOwn(found, spec.name) ? { ...spec, shapes: found[spec.name] } : spec));
  await db.update(modelVersions).set({ inputs: sized }).where(eq(modelVersions.id, id));
}

/** An existing version may have been uploaded without a card. */
async function addCard(db: Database, modelId: string, digest: string, card: PolicyCard): Promise<void> {
  const { modelId: ofModel, digest: ofFile, card: known } = modelVersions;
  await db
    .update(modelVersions)
    .set({ card })
    .where(and(eq(ofModel, modelId), eq(ofFile, digest), isNull(known)));
}

/** Records the parameters of a version that was stored before the edge computed networks; returns whether it was. */
async function learnEdgeParameters(db: Database, modelId: string, digest: string, edgeParameters: number) {
  const { id, modelId: ofModel, digest: ofFile, edgeParameters: known } = modelVersions;
  const updated = await db
    .update(modelVersions)
    .set({ edgeParameters })
    .where(and(eq(ofModel, modelId), eq(ofFile, digest), isNull(known)))
    .returning({ id });
  return updated.length > 0;
}

export async function listModels(
  db: ProjectDatabase,
  page: PageQuery,
): Promise<{ items: Model[]; nextCursor: string | null }> {
  const after = page.cursor === undefined ? undefined : lt(models.id, String(decodeCursor(page.cursor, 1)[0]));
  const found = await db
    .select()
    .from(models)
    .where(and(eq(models.project, db.project), after))
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
export async function findModel(db: ProjectDatabase, nameOrId: string): Promise<Model | null> {
  const [row] = await db
    .select()
    .from(models)
    .where(and(eq(models.project, db.project), or(eq(models.name, nameOrId), eq(models.id, nameOrId))));
  if (row === undefined) return null;
  return toModel(row, (await readVersions(db, [row.id])).get(row.id) ?? []);
}

/** A version with name, id and project of its model, and its placement rule. */
export interface NamedVersion extends ServedVersion {
  readonly project: string;
  /** Number of the project's row, which says nothing else of it: runners of others learn it. An import may change it. */
  readonly tenant: number;
  readonly model: string;
  readonly modelId: string;
  readonly placement: PlacementRule;
}

export async function findModelVersion(db: ProjectDatabase, versionId: string): Promise<NamedVersion | null> {
  return (await readNamedVersions(db, and(eq(models.project, db.project), eq(modelVersions.id, versionId))))[0] ?? null;
}

/** A version of any project: for dependants of its placements. */
export async function findAnyVersion(db: Database, versionId: string): Promise<NamedVersion | null> {
  return (await readNamedVersions(db, eq(modelVersions.id, versionId)))[0] ?? null;
}

/** Versions with these bytes, of any project. */
export async function readVersionsOfDigest(db: Database, digest: string): Promise<string[]> {
  const { id, files, digest: own } = modelVersions;
  const [versions, further] = await db.batch([
    db.select({ id }).from(modelVersions).where(eq(own, digest)),
    db.select({ id: modelVariants.modelVersionId }).from(modelVariants).where(eq(modelVariants.digest, digest)),
  ]);
  const found = new Set([...versions, ...further].map((version) => version.id));
  if (found.size > 0) return [...found];
  // Files of large models have no index of their own: read only for a digest that no other version has.
  const hasFile = sql`exists (select 1 from json_each(${files}) where value ->> 'digest' = ${digest})`;
  const large = await db
    .select({ id })
    .from(modelVersions)
    .where(and(isNotNull(files), hasFile));
  return large.map((version) => version.id);
}

/** Every version of the models that a runner may see: those of its own project, or of all open ones if it is shared. */
export function readVersionsInSight(
  db: Database,
  { project, shared }: { readonly project: string; readonly shared: boolean },
): Promise<NamedVersion[]> {
  return readNamedVersions(db, and(isOfOpenProject(db), shared ? undefined : eq(models.project, project)));
}

/** Statement for every version of the project's models; none once it is closed. */
export function selectServedVersions(db: ProjectDatabase) {
  return selectVersions(db, and(isOfOpenProject(db), eq(models.project, db.project)));
}

function isOfOpenProject(db: Database): SQL {
  const closed = db.select({ name: projects.name }).from(projects).where(isNotNull(projects.closedAtMs));
  return notInArray(models.project, closed);
}

/** The versions of the project's models, or of one of them by its name or id. */
export function readVersionsOf(db: ProjectDatabase, nameOrId?: string): Promise<NamedVersion[]> {
  const isModel = nameOrId === undefined ? undefined : or(eq(models.name, nameOrId), eq(models.id, nameOrId));
  return readNamedVersions(db, and(eq(models.project, db.project), isModel));
}

async function readNamedVersions(db: Database, which: SQL | undefined): Promise<NamedVersion[]> {
  return toNamedVersions(db, await selectVersions(db, which));
}

function selectVersions(db: Database, which: SQL | undefined) {
  const { card: _, ...served } = getTableColumns(modelVersions);
  return db
    .select({
      version: served,
      project: models.project,
      tenant: sql<number>`coalesce((select rowid from ${projects} where ${projects.name} = ${models.project}), 0)`,
      model: models.name,
      placementRule: models.placementRule,
    })
    .from(modelVersions)
    .innerJoin(models, eq(models.id, modelVersions.modelId))
    .where(which)
    .orderBy(asc(modelVersions.version), asc(modelVersions.id));
}

/** Versions that a statement found, with their further files, which are read. */
export async function toNamedVersions(
  db: Database,
  rows: Awaited<ReturnType<typeof selectVersions>>,
): Promise<NamedVersion[]> {
  const versions = await addVariants(
    db,
    rows.map(({ version, ...of }) => ({ ...version, of })),
  );
  return versions.map(({ of, ...row }) => ({
    ...toServedVersion(row),
    project: of.project,
    tenant: of.tenant,
    model: of.model,
    modelId: row.modelId,
    placement: of.placementRule ?? AUTOMATIC,
  }));
}
