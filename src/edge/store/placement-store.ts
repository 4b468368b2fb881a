import { and, eq, inArray, lt } from "drizzle-orm";
import { Distribution } from "../../protocol/distribution.ts";
import { Backend, type Fingerprint } from "../../protocol/hardware.ts";
import { createId } from "../../protocol/id.ts";
import type { CalibratedPlacement, CalibrationResult } from "../../protocol/calibration.ts";
import { type Placement, PlacementState } from "../../protocol/model.ts";
import { type Database, listOf } from "./database.ts";
import { toInstant } from "./instant.ts";
import { modelVersions, placements, runners } from "./schema.ts";

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
    batch: row.batch,
    state: PlacementState.parse(row.state),
    fidelity: row.fidelity,
    serviceMs: Distribution.parse(JSON.parse(row.serviceMs)),
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
  const { deviceKey, variant, backend, batch } = measured;
  const found = {
    software: measured.environment.software,
    state: measured.agrees ? "eligible" : "failed",
    fidelity: measured.agrees ? 1 : null,
    fingerprint: measured.environment.fingerprint,
    serviceMs: JSON.stringify(measured.serviceMs),
    linkMs: JSON.stringify(result.linkMs),
    updatedAtMs: Date.now(),
  };
  const { modelVersionId } = result;
  await db
    .insert(placements)
    .values({ id: createId("placement"), modelVersionId, runnerId, deviceKey, variant, backend, batch, ...found })
    .onConflictDoUpdate({
      target: [
        placements.modelVersionId,
        placements.runnerId,
        placements.deviceKey,
        placements.variant,
        placements.backend,
        placements.batch,
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

interface PlacedAt {
  readonly placementId: string;
  readonly fingerprint: Fingerprint;
  readonly deviceKey: string;
}

/** Versions that a runner shall keep warm: those it has an eligible placement of. */
export async function readPlacedVersions(
  db: Database,
  runnerId: string,
): Promise<(typeof modelVersions.$inferSelect & PlacedAt)[]> {
  const rows = await db
    .select({
      version: modelVersions,
      placementId: placements.id,
      fingerprint: placements.fingerprint,
      deviceKey: placements.deviceKey,
    })
    .from(placements)
    .innerJoin(modelVersions, eq(modelVersions.id, placements.modelVersionId))
    .where(and(eq(placements.runnerId, runnerId), eq(placements.state, "eligible")));
  return rows.map(({ version, ...placedAt }) => ({ ...version, ...placedAt }));
}

/** An eligible placement with what admission and telemetry need to know of it. */
export interface LivePlacement extends Placement {
  readonly fingerprint: Fingerprint;
  readonly online: boolean;
  readonly draining: boolean;
}

export async function readLivePlacements(db: Database): Promise<LivePlacement[]> {
  const rows = await db
    .select({ placement: placements, online: runners.online, draining: runners.draining })
    .from(placements)
    .innerJoin(runners, eq(runners.id, placements.runnerId))
    .where(eq(placements.state, "eligible"));
  return rows.map((row) => ({
    ...toPlacement(row.placement),
    fingerprint: row.placement.fingerprint,
    online: row.online,
    draining: row.draining,
  }));
}

/** Deletes placements that were not measured anew since `beforeMs`. */
export async function deletePlacements(db: Database, ids: string[], beforeMs: number): Promise<void> {
  if (ids.length === 0) return;
  await db.delete(placements).where(and(inArray(placements.id, listOf(ids)), lt(placements.updatedAtMs, beforeMs)));
}

/** Whether a runner has a placement of any version with these bytes. */
export async function isPlacedOn(db: Database, runnerId: string, digest: string): Promise<boolean> {
  const rows = await db
    .select({ id: placements.id })
    .from(placements)
    .innerJoin(modelVersions, eq(modelVersions.id, placements.modelVersionId))
    .where(and(eq(placements.runnerId, runnerId), eq(modelVersions.digest, digest)))
    .limit(1);
  return rows.length > 0;
}
