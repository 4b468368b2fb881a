import { and, eq, inArray, lt, sql } from "drizzle-orm";
import { z } from "zod";
import { Distribution } from "../../protocol/distribution.ts";
import { EDGE_DEVICE_KEY, EDGE_RUNNER_ID } from "../../protocol/edge-place.ts";
import { Backend, type Device, type Fingerprint, type Hardware } from "../../protocol/hardware.ts";
import { createId } from "../../protocol/id.ts";
import type { CalibratedPlacement, CalibrationResult } from "../../protocol/calibration.ts";
import { type Placement, PlacementState, SweepStep } from "../../protocol/model.ts";
import type { Profile } from "../../protocol/profile.ts";
import { fitProfile } from "../budget/profile-fit.ts";
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

/** An eligible placement with what admission and telemetry need to know of it and its runner. */
export interface LivePlacement extends Placement {
  readonly fingerprint: Fingerprint;
  readonly online: boolean;
  readonly draining: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** Names of the hardware profiles that its device fits. */
  readonly profiles: readonly string[];
  /** When its runner connected, and when by its calibrations it has loaded all of its models since. */
  readonly connectedAtMs: number;
  readonly warmAtMs: number;
  /** Whether its runner has a listener of its own. */
  readonly direct: boolean;
}

/** Every eligible placement; which of `profiles` a device fits is worked out here, once for all requests. */
export async function readLivePlacements(db: Database, profiles: readonly Profile[]): Promise<LivePlacement[]> {
  const [rows, hosts] = await Promise.all([
    db.select().from(placements).where(eq(placements.state, "eligible")),
    readHosts(db),
  ]);
  const hostById = new Map(hosts.map((host) => [host.id, host]));
  const loadMsByRunner = new Map<string, number>();
  for (const { runnerId, loadMs } of rows) loadMsByRunner.set(runnerId, (loadMsByRunner.get(runnerId) ?? 0) + loadMs);
  return rows.flatMap((row) => {
    const host = hostById.get(row.runnerId);
    if (host === undefined) return [];
    const { online, draining, labels } = host;
    const connectedAtMs = host.connectedAtMs ?? 0;
    return {
      ...toPlacement(row),
      fingerprint: row.fingerprint,
      online,
      draining,
      labels,
      direct: host.direct === 1,
      profiles: fittedProfiles(profiles, host, row.deviceKey),
      connectedAtMs,
      warmAtMs: connectedAtMs + (loadMsByRunner.get(row.runnerId) ?? 0),
    };
  });
}

type Host = Awaited<ReturnType<typeof readHosts>>[number];

/** The runners of all placements, without what they say of kernels. */
function readHosts(db: Database) {
  const { id, online, draining, labels, connectedAtMs, capabilities } = runners;
  return db
    .select({
      id,
      online,
      draining,
      labels,
      connectedAtMs,
      direct: sql<number>`json_type(${capabilities}, '$.direct') is not null`,
      hardware: sql<string | null>`${capabilities} -> '$.hardware'`,
      devices: sql<string | null>`${capabilities} -> '$.devices'`,
    })
    .from(runners)
    .where(sql`${id} in (select ${placements.runnerId} from ${placements})`);
}

function fittedProfiles(profiles: readonly Profile[], { hardware, devices }: Host, deviceKey: string): string[] {
  if (hardware === null || devices === null) return [];
  const device = (JSON.parse(devices) as Device[]).find(({ key }) => key === deviceKey);
  if (device === undefined) return [];
  const machine = { hardware: JSON.parse(hardware) as Hardware, devices: [device] };
  return profiles.filter((profile) => fitProfile(profile, machine).fits).map(({ name }) => name);
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
