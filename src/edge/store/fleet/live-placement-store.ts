import { and, eq, inArray, sql } from "drizzle-orm";
import type { Device, Fingerprint, Hardware } from "../../../protocol/fleet/hardware.ts";
import type { Placement } from "../../../protocol/models/model.ts";
import { countMeasuredElements } from "../../../protocol/models/model-inputs.ts";
import type { Profile } from "../../../protocol/fleet/profile.ts";
import { fitProfile } from "./profile-fit.ts";
import type { Database, ProjectDatabase } from "../database.ts";
import { toPlacement } from "./placement-store.ts";
import { holdsStill } from "./runner-store.ts";
import { models, modelVersions, placements, runners, servingState } from "../schema.ts";

/** An eligible placement with the fields of it and its runner for admission and telemetry. */
export interface LivePlacement extends Placement {
  /** Project of its model. */
  readonly project: string;
  readonly fingerprint: Fingerprint;
  readonly online: boolean;
  /** True if its runner accepts no new work: it drains, or is in quarantine. */
  readonly draining: boolean;
  /** End of its runner's quarantine; absent without one. */
  readonly heldUntilMs?: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Names of its project's hardware profiles that its device fits. */
  readonly profiles: readonly string[];
  /** Time of its runner's connection, and the time since when all its models are loaded, by its calibrations. */
  readonly connectedAtMs: number;
  readonly warmAtMs: number;
  /** True if its runner has a listener of its own. */
  readonly direct: boolean;
  /** Elements of one row at the size of `sweep`, in all inputs. */
  readonly measuredElements: number;
  /** Size of the request that `sweep` applies to, in steps of `fitRequest`; absent: the measured one. */
  readonly size?: number;
  /** The same placement at its measured size, where `size` is another. */
  readonly measured?: LivePlacement;
}

/** Mark of the last change to what admission reads: placements, and all that they depend on. Null where there is none. */
export async function readServingChange(db: Database): Promise<string | null> {
  const [state] = await db.select({ changed: servingState.changed }).from(servingState);
  return state?.changed ?? null;
}

/** The project's eligible placements. */
export async function readLivePlacements(db: ProjectDatabase): Promise<LivePlacement[]> {
  return toLivePlacements(db, [], await db.batch(selectLivePlacements(db)));
}

/** Statements for the project's eligible placements, and for their runners. */
export function selectLivePlacements(db: ProjectDatabase) {
  return [selectEligible(db), selectHosts(db)] as const;
}

function selectEligible(db: ProjectDatabase) {
  return db
    .select({ row: placements, inputs: modelVersions.inputs })
    .from(placements)
    .innerJoin(modelVersions, eq(modelVersions.id, placements.modelVersionId))
    .innerJoin(models, eq(models.id, modelVersions.modelId))
    .where(and(eq(models.project, db.project), eq(placements.state, "eligible")));
}

type Eligible = Awaited<ReturnType<typeof selectEligible>>[number];

/** The placements that these statements found, with those of these profiles that their devices fit. */
export function toLivePlacements(
  { project }: ProjectDatabase,
  profiles: readonly Profile[],
  [found, hosts]: readonly [readonly Eligible[], readonly Host[]],
): LivePlacement[] {
  const hostById = new Map(hosts.map((host) => [host.id, host]));
  return found.flatMap(({ row, inputs }) => {
    const host = hostById.get(row.runnerId);
    // A runner that is no longer shared serves its own project alone from then on.
    if (host === undefined || (host.project !== project && !host.shared)) return [];
    const { online, labels } = host;
    const quarantine = holdsStill(host.quarantine) ? host.quarantine : null;
    const connectedAtMs = host.connectedAtMs ?? 0;
    return {
      ...toPlacement(row),
      project,
      fingerprint: row.fingerprint,
      online,
      draining: host.draining || quarantine !== null,
      ...(quarantine !== null && { heldUntilMs: Date.parse(quarantine.until) }),
      labels,
      direct: host.direct === 1,
      measuredElements: countMeasuredElements(inputs),
      profiles: fittedProfiles(profiles, host, row.deviceKey),
      connectedAtMs,
      warmAtMs: connectedAtMs + host.loadMs,
    };
  });
}

type Host = Awaited<ReturnType<typeof selectHosts>>[number];

/** Runners that have placements of the project's models, without their reports of kernels. */
function selectHosts(db: ProjectDatabase) {
  const { id, project, shared, online, draining, quarantine, labels, connectedAtMs, capabilities } = runners;
  return db
    .select({
      id,
      project,
      shared,
      online,
      draining,
      quarantine,
      labels,
      connectedAtMs,
      // Of all projects' models. In a subquery the columns need their tables' names.
      loadMs: sql<number>`(select coalesce(sum(load_ms), 0) from placements
        where runner_id = runners.id and state = 'eligible')`,
      direct: sql<number>`json_type(${capabilities}, '$.direct') is not null`,
      hardware: sql<string | null>`${capabilities} -> '$.hardware'`,
      devices: sql<string | null>`${capabilities} -> '$.devices'`,
    })
    .from(runners)
    .where(
      inArray(
        id,
        db
          .select({ runnerId: placements.runnerId })
          .from(placements)
          .innerJoin(modelVersions, eq(modelVersions.id, placements.modelVersionId))
          .innerJoin(models, eq(models.id, modelVersions.modelId))
          .where(eq(models.project, db.project)),
      ),
    );
}

function fittedProfiles(profiles: readonly Profile[], { hardware, devices }: Host, deviceKey: string): string[] {
  if (hardware === null || devices === null) return [];
  const device = (JSON.parse(devices) as Device[]).find(({ key }) => key === deviceKey);
  if (device === undefined) return [];
  const machine = { hardware: JSON.parse(hardware) as Hardware, devices: [device] };
  return profiles.filter((profile) => fitProfile(profile, machine).fits).map(({ name }) => name);
}
