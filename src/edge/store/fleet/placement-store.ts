import { and, asc, eq, inArray, isNull, lt, ne, type SQL, sql } from "drizzle-orm";
import { z } from "zod";
import { Distribution } from "../../../protocol/wire/distribution.ts";
import { EDGE_DEVICE_KEY, EDGE_RUNNER_ID } from "../../../protocol/models/edge-place.ts";
import { Backend, type Fingerprint, fingerprintText } from "../../../protocol/fleet/hardware.ts";
import { createId } from "../../../protocol/wire/id.ts";
import type { CalibratedPlacement, CalibrationResult } from "../../../protocol/jobs/calibration.ts";
import { Placement as PlacementSchema, PlacementState, SizeSweep, SweepStep } from "../../../protocol/models/model.ts";
import {
  DEFAULT_CONFIGURATION,
  isSameConfiguration,
  type ServingConfiguration,
} from "../../../protocol/fleet/serving.ts";
import { type Database, listOf, type ProjectDatabase } from "../database.ts";
import { toInstant } from "../../clock.ts";
import { ensureEdgeRunner } from "./runner-store.ts";
import { models, modelVariants, modelVersions, placements } from "../schema.ts";

type Placement = z.infer<typeof PlacementSchema>;
type Row = typeof placements.$inferSelect;

/** A placement from its row. */
export function toPlacement(row: Row): Placement {
  return {
    id: row.id,
    modelVersionId: row.modelVersionId,
    runnerId: row.runnerId,
    deviceKey: row.deviceKey,
    software: row.software,
    variant: row.variant,
    backend: Backend.parse(row.backend),
    state: PlacementState.parse(row.state),
    fidelity: row.fidelity,
    sweep: z.array(SweepStep).parse(JSON.parse(row.sweep)),
    sizes: row.sizes === null ? [] : z.array(SizeSweep).parse(JSON.parse(row.sizes)),
    memory: row.memory,
    loadMs: row.loadMs,
    linkMs: Distribution.parse(JSON.parse(row.linkMs)),
    configuration: row.configuration ?? DEFAULT_CONFIGURATION,
    validated: row.validated === null ? null : PlacementSchema.shape.validated.parse(JSON.parse(row.validated)),
    updatedAt: toInstant(row.updatedAtMs),
  };
}

/** Placements of the project's models. */
function isOwn(db: ProjectDatabase): SQL {
  const own = db
    .select({ id: modelVersions.id })
    .from(modelVersions)
    .innerJoin(models, eq(models.id, modelVersions.modelId))
    .where(eq(models.project, db.project));
  return inArray(placements.modelVersionId, own);
}

/**
 * Stores the result of a calibration. A placement whose outputs disagree with the CPU provider is stored as `failed`:
 * visible, never served. One at the edge belongs to no runner. An existing configuration stays; results under other
 * threads or batches are dropped.
 */
export async function savePlacement(
  db: Database,
  runnerId: string,
  result: CalibrationResult,
  measured: CalibratedPlacement,
): Promise<void> {
  const { deviceKey, variant, backend } = measured;
  const isAtEdge = backend === "edge-wasm";
  if (isAtEdge) await ensureEdgeRunner(db);
  const found = {
    ...(await columnsOf(db, result.modelVersionId, measured)),
    linkMs: JSON.stringify(measured.linkMs ?? result.linkMs),
    // The last validation was of another measurement.
    validated: null,
  };
  const { threads, maxRows } = measured.configuration ?? DEFAULT_CONFIGURATION;
  const place = {
    modelVersionId: result.modelVersionId,
    runnerId: isAtEdge ? EDGE_RUNNER_ID : runnerId,
    deviceKey: isAtEdge ? EDGE_DEVICE_KEY : deviceKey,
    variant,
    backend,
  };
  await db
    .insert(placements)
    .values({ id: createId("placement"), ...place, ...found, configuration: measured.configuration ?? null })
    .onConflictDoUpdate({
      target: [
        placements.modelVersionId,
        placements.runnerId,
        placements.deviceKey,
        placements.variant,
        placements.backend,
      ],
      set: found,
      setWhere: sql`coalesce(${placements.configuration} ->> '$.threads', ${DEFAULT_CONFIGURATION.threads}) = ${threads}
        and ${placements.configuration} ->> '$.maxRows' is ${maxRows}`,
    });
}

/** A placement's validation, and the measurement that it applies to. */
export interface Validated {
  readonly configuration: ServingConfiguration;
  readonly fingerprint: Fingerprint;
  readonly validated: NonNullable<Placement["validated"]>;
}

/**
 * Stores a validation with a runner's placement, if that is served as it was validated and has no later one. Repeating
 * it changes nothing.
 */
export async function saveValidated(
  db: ProjectDatabase,
  runnerId: string,
  placementId: string,
  { configuration, fingerprint, validated }: Validated,
): Promise<void> {
  const isIt = and(isOwn(db), eq(placements.id, placementId), eq(placements.runnerId, runnerId));
  const [row] = await db.select().from(placements).where(isIt);
  if (row === undefined || fingerprintText(row.fingerprint) !== fingerprintText(fingerprint)) return;
  const standing = toPlacement(row);
  if (!isSameConfiguration(standing.configuration, configuration)) return;
  if (standing.validated !== null && standing.validated.at > validated.at) return;
  const asRead =
    row.configuration === null ? isNull(placements.configuration) : eq(placements.configuration, row.configuration);
  await db
    .update(placements)
    .set({ validated: JSON.stringify(validated) })
    .where(and(isIt, asRead, eq(placements.updatedAtMs, row.updatedAtMs)));
}

/** Columns of a placement's measurement; the fidelity reported by its variant's uploader takes precedence. */
async function columnsOf(db: Database, modelVersionId: string, measured: CalibratedPlacement) {
  const { agrees, variant, fidelity, environment, sweep, sizes = [], memory, loadMs } = measured;
  return {
    software: environment.software,
    state: agrees ? "eligible" : "failed",
    fidelity: agrees ? ((await readFidelity(db, modelVersionId, variant)) ?? fidelity) : null,
    fingerprint: environment.fingerprint,
    sweep: JSON.stringify(sweep),
    sizes: sizes.length === 0 ? null : JSON.stringify(sizes),
    memory,
    loadMs,
    updatedAtMs: Date.now(),
  };
}

/** A configuration with its measurements. */
export interface AppliedConfiguration {
  readonly configuration: ServingConfiguration;
  /** Null: the previous measurement stays until a calibration. */
  readonly measured: CalibratedPlacement | null;
  readonly validated: Placement["validated"];
}

/**
 * Applies a configuration to a placement, together with its measurement and validation; RunnerLink's `configure` sends
 * it to the runner. Returns the placement, or null where there is none. Repeating it changes nothing.
 */
export async function applyConfiguration(
  db: ProjectDatabase,
  id: string,
  { configuration, measured, validated }: AppliedConfiguration,
): Promise<Placement | null> {
  const before = await findPlacement(db, id);
  if (before === null) return null;
  const found = measured === null ? {} : await columnsOf(db, before.modelVersionId, measured);
  const linkMs = measured?.linkMs === undefined ? {} : { linkMs: JSON.stringify(measured.linkMs) };
  const [row] = await db
    .update(placements)
    .set({ ...found, ...linkMs, configuration, validated: validated === null ? null : JSON.stringify(validated) })
    .where(and(isOwn(db), eq(placements.id, id)))
    .returning();
  return row === undefined ? null : toPlacement(row);
}

export async function findPlacement(db: ProjectDatabase, id: string): Promise<Placement | null> {
  const [row] = await db
    .select()
    .from(placements)
    .where(and(isOwn(db), eq(placements.id, id)));
  return row === undefined ? null : toPlacement(row);
}

export async function listPlacementsOfVersions(db: ProjectDatabase, versionIds: string[]): Promise<Placement[]> {
  const rows = await db
    .select()
    .from(placements)
    .where(and(isOwn(db), inArray(placements.modelVersionId, listOf(versionIds))));
  return rows.map(toPlacement);
}

/** A placement with its display name: `lenet5@1 int8 on cpu by ort-cpu`. */
type NamedPlacement = Placement & { readonly subject: string };

/** Eligible placements of a runner, in every project: for its operator. */
export function listPlacementsOfRunner(db: Database, runnerId: string): Promise<NamedPlacement[]> {
  return readNamed(db, eq(placements.runnerId, runnerId));
}

/** Those of the project's own models. */
export function listOwnPlacementsOfRunner(db: ProjectDatabase, runnerId: string): Promise<NamedPlacement[]> {
  return readNamed(db, and(isOwn(db), eq(placements.runnerId, runnerId)));
}

async function readNamed(db: Database, which: SQL | undefined): Promise<NamedPlacement[]> {
  const rows = await db
    .select({ row: placements, model: models.name, version: modelVersions.version })
    .from(placements)
    .innerJoin(modelVersions, eq(modelVersions.id, placements.modelVersionId))
    .innerJoin(models, eq(models.id, modelVersions.modelId))
    .where(and(which, eq(placements.state, "eligible")))
    .orderBy(asc(placements.id));
  return rows.map(({ row, model, version }) => ({
    ...toPlacement(row),
    subject: `${model}@${version} ${row.variant} on ${row.deviceKey} by ${row.backend}`,
  }));
}

/** Measurement on a runner, with its device. */
export interface MeasuredPlace {
  readonly placementId: string;
  readonly versionId: string;
  readonly variant: string;
  readonly deviceKey: string;
  readonly fingerprint: Fingerprint;
  readonly configuration: ServingConfiguration;
  readonly isEligible: boolean;
}

/** Every placement of a runner, or of one version there, including failed ones. */
export async function readMeasuredPlaces(db: Database, runnerId: string, versionId?: string): Promise<MeasuredPlace[]> {
  const { id, modelVersionId, variant, deviceKey, fingerprint, configuration, state } = placements;
  const rows = await db
    .select({ placementId: id, versionId: modelVersionId, variant, deviceKey, fingerprint, configuration, state })
    .from(placements)
    .where(
      and(
        eq(placements.runnerId, runnerId),
        versionId === undefined ? undefined : eq(placements.modelVersionId, versionId),
      ),
    );
  return rows.map(({ state: found, ...row }) => ({
    ...row,
    configuration: row.configuration ?? DEFAULT_CONFIGURATION,
    isEligible: found === "eligible",
  }));
}

/** Ids of a runner's placements of models of other projects than this one. */
export async function readForeignPlacements(db: Database, runnerId: string, project: string): Promise<string[]> {
  const rows = await db
    .select({ id: placements.id })
    .from(placements)
    .innerJoin(modelVersions, eq(modelVersions.id, placements.modelVersionId))
    .innerJoin(models, eq(models.id, modelVersions.modelId))
    .where(and(eq(placements.runnerId, runnerId), ne(models.project, project)));
  return rows.map(({ id }) => id);
}

/** Subjects under which requests to a runner's placements are recorded, by placement. */
export async function readPlacementSubjects(db: Database, runnerId: string, ids: string[]) {
  const { id, variant, backend, software, fingerprint, configuration } = placements;
  const rows = await db
    .select({
      id,
      variant,
      backend,
      software,
      fingerprint,
      configuration,
      project: models.project,
      model: models.name,
      version: modelVersions.version,
    })
    .from(placements)
    .innerJoin(modelVersions, eq(modelVersions.id, placements.modelVersionId))
    .innerJoin(models, eq(models.id, modelVersions.modelId))
    .where(and(eq(placements.runnerId, runnerId), inArray(placements.id, listOf(ids))));
  return new Map(
    rows.map(({ id: key, model, version, ...row }) => {
      const subject = `${model}@${version}`;
      return [key, { ...row, subject, configuration: row.configuration ?? DEFAULT_CONFIGURATION }];
    }),
  );
}

/** Deletes placements that were not measured again since `beforeMs`. */
export async function deletePlacements(db: Database, ids: string[], beforeMs: number): Promise<void> {
  if (ids.length === 0) return;
  await db.delete(placements).where(and(inArray(placements.id, listOf(ids)), lt(placements.updatedAtMs, beforeMs)));
}

/** Fidelity that a variant's uploader reported; null where there was none. */
async function readFidelity(db: Database, modelVersionId: string, variant: string): Promise<number | null> {
  const [row] = await db
    .select({ fidelity: modelVariants.fidelity })
    .from(modelVariants)
    .where(and(eq(modelVariants.modelVersionId, modelVersionId), eq(modelVariants.name, variant)));
  return row?.fidelity ?? null;
}

/** Whether a version with this very file is placed on a runner; not of the files of a large model. */
export async function hasFileOn(db: Database, runnerId: string, digest: string): Promise<boolean> {
  const versions = sql`(select id from model_versions where digest = ${digest}
    union all select model_version_id from model_variants where digest = ${digest})`;
  const rows = await db
    .select({ id: placements.id })
    .from(placements)
    .where(and(eq(placements.runnerId, runnerId), inArray(placements.modelVersionId, versions)))
    .limit(1);
  return rows.length > 0;
}

/** True if a runner has a placement of any of these versions. */
export async function isPlacedOn(db: Database, runnerId: string, versionIds: string[]): Promise<boolean> {
  const rows = await db
    .select({ id: placements.id })
    .from(placements)
    .where(and(eq(placements.runnerId, runnerId), inArray(placements.modelVersionId, listOf(versionIds))))
    .limit(1);
  return rows.length > 0;
}
