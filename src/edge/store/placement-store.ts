import { and, eq, inArray, lt, sql } from "drizzle-orm";
import { z } from "zod";
import { Distribution } from "../../protocol/distribution.ts";
import { EDGE_DEVICE_KEY, EDGE_RUNNER_ID } from "../../protocol/edge-place.ts";
import { Backend, type Fingerprint } from "../../protocol/hardware.ts";
import { createId } from "../../protocol/id.ts";
import type { CalibratedPlacement, CalibrationResult } from "../../protocol/calibration.ts";
import { type Placement, PlacementState, SweepStep } from "../../protocol/model.ts";
import { type Database, listOf } from "./database.ts";
import { toInstant } from "./instant.ts";
import { ensureEdgeRunner } from "./runner-store.ts";
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
 * kept as `failed`, so that it is seen and never served. One at the edge belongs to no runner.
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
    software: measured.environment.software,
    state: measured.agrees ? "eligible" : "failed",
    fidelity: measured.agrees ? ((await readFidelity(db, result.modelVersionId, variant)) ?? measured.fidelity) : null,
    fingerprint: measured.environment.fingerprint,
    sweep: JSON.stringify(measured.sweep),
    memory: measured.memory,
    loadMs: measured.loadMs,
    linkMs: JSON.stringify(measured.linkMs ?? result.linkMs),
    updatedAtMs: Date.now(),
  };
  const place = {
    modelVersionId: result.modelVersionId,
    runnerId: isAtEdge ? EDGE_RUNNER_ID : runnerId,
    deviceKey: isAtEdge ? EDGE_DEVICE_KEY : deviceKey,
    variant,
    backend,
  };
  await db
    .insert(placements)
    .values({ id: createId("placement"), ...place, ...found })
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

/** What was measured on a runner, with the device that it was measured on. */
export interface MeasuredPlace {
  readonly placementId: string;
  readonly versionId: string;
  readonly variant: string;
  readonly deviceKey: string;
  readonly fingerprint: Fingerprint;
  readonly isEligible: boolean;
}

/** Every placement of a runner, also those that failed. */
export async function readMeasuredPlaces(db: Database, runnerId: string): Promise<MeasuredPlace[]> {
  const { id, modelVersionId, variant, deviceKey, fingerprint, state } = placements;
  const rows = await db
    .select({ placementId: id, versionId: modelVersionId, variant, deviceKey, fingerprint, state })
    .from(placements)
    .where(eq(placements.runnerId, runnerId));
  return rows.map(({ state: found, ...row }) => ({ ...row, isEligible: found === "eligible" }));
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
