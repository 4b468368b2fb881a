import { fingerprintText } from "../../protocol/fingerprint-id.ts";
import type { Capabilities } from "../../protocol/hardware.ts";
import type { PlacedModel } from "../../protocol/link.ts";
import type { Database } from "../store/database.ts";
import { readAllVersions, toPlacedModel } from "../store/model-store.ts";
import { readPlacedVersions } from "../store/placement-store.ts";

export interface RunnerPlan {
  /** Versions that the runner shall keep warm. */
  readonly placed: PlacedModel[];
  /** What it was not measured with yet: latest versions, and those whose measurements are outdated. */
  readonly uncalibrated: string[];
  /** Placements that were measured on what this runner is no longer. */
  readonly outdated: string[];
}

/**
 * What a runner that said hello shall do. A placement counts only while the fingerprint of its
 * device is the one that it was measured on.
 */
export async function planRunner(db: Database, runnerId: string, capabilities: Capabilities): Promise<RunnerPlan> {
  const [placedRows, versions] = await Promise.all([readPlacedVersions(db, runnerId), readAllVersions(db)]);
  const fingerprints = new Map(capabilities.devices.map(({ key, fingerprint }) => [key, fingerprintText(fingerprint)]));
  const isValid = (row: (typeof placedRows)[number]) =>
    fingerprints.get(row.deviceKey) === fingerprintText(row.fingerprint);
  const outdated = placedRows.filter((row) => !isValid(row));
  const placedIds = new Set(placedRows.filter(isValid).map(({ versionId }) => versionId));
  const latest = new Map(versions.map((version) => [version.modelId, version.id]));
  const wanted = new Set([...latest.values(), ...outdated.map(({ versionId }) => versionId)]);
  return {
    placed: versions.filter(({ id }) => placedIds.has(id)).map(toPlacedModel),
    uncalibrated: [...wanted].filter((id) => !placedIds.has(id)),
    outdated: outdated.map((row) => row.placementId),
  };
}
