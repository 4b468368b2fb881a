import type { Capabilities, Fingerprint } from "../../protocol/hardware.ts";
import type { PlacedModel } from "../../protocol/link.ts";
import type { Database } from "../store/database.ts";
import { readAllVersions } from "../store/model-store.ts";
import { readPlacedVersions } from "../store/placement-store.ts";

export interface RunnerPlan {
  /** Versions that the runner shall keep warm. */
  readonly placed: PlacedModel[];
  /** The latest version of every model that it was not measured with yet. */
  readonly uncalibrated: string[];
}

/**
 * What a runner that said hello shall do. A placement counts only while the fingerprint of its
 * device is the one that it was measured on.
 */
export async function planRunner(db: Database, runnerId: string, capabilities: Capabilities): Promise<RunnerPlan> {
  const [placedRows, versions] = await Promise.all([readPlacedVersions(db, runnerId), readAllVersions(db)]);
  const fingerprints = new Map(capabilities.devices.map(({ key, fingerprint }) => [key, fingerprintText(fingerprint)]));
  const valid = placedRows.filter((row) => fingerprints.get(row.deviceKey) === fingerprintText(row.fingerprint));
  const placed = new Map(
    valid.map(({ id, digest, inputs, outputs }) => [id, { modelVersionId: id, digest, inputs, outputs }]),
  );
  const latest = new Map(versions.map((version) => [version.modelId, version.id]));
  return { placed: [...placed.values()], uncalibrated: [...latest.values()].filter((id) => !placed.has(id)) };
}

function fingerprintText(fingerprint: Fingerprint): string {
  const { adapter, driver, dawn, toggles, ort, cpu } = fingerprint;
  return JSON.stringify([adapter, driver, dawn, toggles, ort, cpu]);
}
