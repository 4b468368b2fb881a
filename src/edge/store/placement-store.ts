import { and, eq, inArray, lt, sql } from "drizzle-orm";
import { z } from "zod";
import { Distribution } from "../../protocol/distribution.ts";
import { Backend, type Fingerprint } from "../../protocol/hardware.ts";
import { createId } from "../../protocol/id.ts";
import type { CalibratedPlacement, CalibrationResult } from "../../protocol/calibration.ts";
import { type Placement, PlacementState, SweepStep } from "../../protocol/model.ts";
import { type Database, listOf } from "./database.ts";
import { toInstant } from "./instant.ts";
import { models, modelVariants, modelVersions, placements, runners } from "./schema.ts";

type Row = typeof placements.$inferSelect;

function toPlacement(row: Row): Placement {
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
    memory: row.memory,
    loadMs: row.loadMs,
    linkMs: Distribution.parse(JSON.parse(row.linkMs)),
    updatedAt: toInstant(row.updatedAtMs),
  };
}

/**
 * Keeps what a calibration measured. A placement whose outputs disagree with the CPU provider is
 * kept as `failed`, so that it is seen and never served.
 */
export async function savePlacement(
  db: Database,
  runnerId: string,
  result: CalibrationResult,
  measured: CalibratedPlacement,
): Promise<void> {
  const { deviceKey, variant, backend } = measured;
  const found = {
    software: measured.environment.software,
    state: measured.agrees ? "eligible" : "failed",
    fidelity: measured.agrees ? ((await readFidelity(db, result.modelVersionId, variant)) ?? measured.fidelity) : null,
    fingerprint: measured.environment.fingerprint,
    sweep: JSON.stringify(measured.sweep),
    memory: measured.memory,
    loadMs: measured.loadMs,
    linkMs: JSON.stringify(result.linkMs),
    updatedAtMs: Date.now(),
  };
  const { modelVersionId } = result;
  await db
    .insert(placements)
    .values({ id: createId("placement"), modelVersionId, runnerId, deviceKey, variant, backend, ...found })
    .onConflictDoUpdate({
      target: [
        placements.modelVersionId,
        placements.runnerId,
        placements.deviceKey,
        placements.variant,
        placements.backend,
      ],
      set: found,
    });
}

export async function listPlacementsOfVersions(db: Database, versionIds: string[]): Promise<Placement[]> {
  const rows = await db
    .select()
    .from(placements)
    .where(inArray(placements.modelVersionId, listOf(versionIds)));
  return rows.map(toPlacement);
}

/** An eligible placement of a runner, with the device that it was measured on. */
interface PlacedVersion {
  readonly placementId: string;
  readonly versionId: string;
  readonly fingerprint: Fingerprint;
  readonly deviceKey: string;
}

/** What a runner shall keep warm. */
export async function readPlacedVersions(db: Database, runnerId: string): Promise<PlacedVersion[]> {
  const { id, modelVersionId, fingerprint, deviceKey } = placements;
  return db
    .select({ placementId: id, versionId: modelVersionId, fingerprint, deviceKey })
    .from(placements)
    .where(and(eq(placements.runnerId, runnerId), eq(placements.state, "eligible")));
}

/** An eligible placement with what admission and telemetry need to know of it. */
export interface LivePlacement extends Placement {
  readonly fingerprint: Fingerprint;
  readonly online: boolean;
  readonly draining: boolean;
  /** Whether its runner has a listener of its own. */
  readonly direct: boolean;
}

/** 1 or 0: kept out of the rest of the capabilities, which are long. */
const hasListener = sql<number>`json_type(${runners.capabilities}, '$.direct') is not null`;

export async function readLivePlacements(db: Database): Promise<LivePlacement[]> {
  const rows = await db
    .select({ placement: placements, online: runners.online, draining: runners.draining, direct: hasListener })
    .from(placements)
    .innerJoin(runners, eq(runners.id, placements.runnerId))
    .where(eq(placements.state, "eligible"));
  return rows.map((row) => ({
    ...toPlacement(row.placement),
    fingerprint: row.placement.fingerprint,
    online: row.online,
    draining: row.draining,
    direct: row.direct === 1,
  }));
}

/** What requests to a runner's placements are recorded as, by placement. */
export async function readPlacementSubjects(db: Database, runnerId: string, ids: string[]) {
  const { id, variant, backend, software, fingerprint } = placements;
  const rows = await db
    .select({ id, variant, backend, software, fingerprint, model: models.name, version: modelVersions.version })
    .from(placements)
    .innerJoin(modelVersions, eq(modelVersions.id, placements.modelVersionId))
    .innerJoin(models, eq(models.id, modelVersions.modelId))
    .where(and(eq(placements.runnerId, runnerId), inArray(placements.id, listOf(ids))));
  return new Map(rows.map(({ id: key, model, version, ...row }) => [key, { subject: `${model}@${version}`, ...row }]));
}

/** Deletes placements that were not measured anew since `beforeMs`. */
export async function deletePlacements(db: Database, ids: string[], beforeMs: number): Promise<void> {
  if (ids.length === 0) return;
  await db.delete(placements).where(and(inArray(placements.id, listOf(ids)), lt(placements.updatedAtMs, beforeMs)));
}

/** What the uploader of a variant measured of it; null where nothing was said. */
async function readFidelity(db: Database, modelVersionId: string, variant: string): Promise<number | null> {
  const [row] = await db
    .select({ fidelity: modelVariants.fidelity })
    .from(modelVariants)
    .where(and(eq(modelVariants.modelVersionId, modelVersionId), eq(modelVariants.name, variant)));
  return row?.fidelity ?? null;
}

/** Whether a runner has a placement of any of these versions. */
export async function isPlacedOn(db: Database, runnerId: string, versionIds: string[]): Promise<boolean> {
  const rows = await db
    .select({ id: placements.id })
    .from(placements)
    .where(and(eq(placements.runnerId, runnerId), inArray(placements.modelVersionId, listOf(versionIds))))
    .limit(1);
  return rows.length > 0;
}
