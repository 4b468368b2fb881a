import { EDGE_RUNNER_ID } from "../../protocol/edge-place.ts";
import { fingerprintText } from "../../protocol/fingerprint-id.ts";
import type { Capabilities } from "../../protocol/hardware.ts";
import type { PlacedModel } from "../../protocol/link.ts";
import { modelBackendOf } from "../../protocol/model-backend.ts";
import type { Database } from "../store/database.ts";
import { type NamedVersion, toPlacedModel } from "../store/model-store.ts";
import { resolveRule } from "../store/placement-rule-store.ts";
import { type MeasuredPlace, readMeasuredPlaces } from "../store/placement-store.ts";
import { isPlacedAtEdge, isPlacedHere } from "./is-placed-here.ts";

export interface RunnerPlan {
  /** Versions that the runner shall keep warm, each where it is eligible. */
  readonly placed: PlacedModel[];
  /** What it was not measured with yet, whole: latest versions, and those whose measurements are outdated. */
  readonly uncalibrated: string[];
  /** Placements that were measured on what this runner is no longer, or where their model is not placed any more. */
  readonly outdated: string[];
}

/**
 * What a runner shall do that can do this, of all versions in order. A placement counts only while the fingerprint of its device is the
 * one that it was measured on, and while the model's rule places it on the runner.
 */
export async function planRunner(
  db: Database,
  all: readonly NamedVersion[],
  runnerId: string,
  capabilities: Capabilities,
): Promise<RunnerPlan> {
  const measured = await readMeasuredPlaces(db, runnerId);
  const versions = await keepPlaced(db, all, runnerId, capabilities);
  const known = new Set(versions.map(({ id }) => id));
  const fingerprints = new Map(capabilities.devices.map(({ key, fingerprint }) => [key, fingerprintText(fingerprint)]));
  const isCurrent = (place: MeasuredPlace) =>
    fingerprints.get(place.deviceKey) === fingerprintText(place.fingerprint) && known.has(place.versionId);
  const outdated = measured.filter((place) => !isCurrent(place));
  const current = Map.groupBy(measured.filter(isCurrent), ({ versionId }) => versionId);
  const latest = new Map(versions.map((version) => [version.modelId, version.id]));
  const owed = new Set([...latest.values(), ...outdated.map(({ versionId }) => versionId)]);
  return {
    placed: versions.flatMap((version) => {
      const places = (current.get(version.id) ?? []).filter(({ isEligible }) => isEligible);
      if (places.length === 0) return [];
      return toPlacedModel(version, places);
    }),
    uncalibrated: versions
      .filter((version) => owed.has(version.id) && lacksPlaces(version, capabilities, current.get(version.id) ?? []))
      .map(({ id }) => id),
    outdated: outdated.map(({ placementId }) => placementId),
  };
}

/**
 * What is to be done about the edge for the versions of a model, in order. Runners measure the edge beside
 * themselves, so the latest version is theirs to calibrate where it may serve there and was not measured there.
 */
export async function planEdge(
  db: Database,
  versions: readonly NamedVersion[],
): Promise<Pick<RunnerPlan, "uncalibrated" | "outdated">> {
  const measured = await readMeasuredPlaces(db, EDGE_RUNNER_ID);
  const placesOf = ({ id }: NamedVersion) => measured.filter(({ versionId }) => versionId === id);
  const latest = versions.slice(-1).filter(isPlacedAtEdge);
  return {
    uncalibrated: latest.filter((version) => placesOf(version).length === 0).map(({ id }) => id),
    outdated: versions
      .filter((version) => !isPlacedAtEdge(version))
      .flatMap(placesOf)
      .map(({ placementId }) => placementId),
  };
}

/** The versions that their models' rules place on this runner. */
async function keepPlaced(
  db: Database,
  versions: readonly NamedVersion[],
  id: string,
  capabilities: Capabilities,
): Promise<NamedVersion[]> {
  const rules = new Map(versions.map(({ modelId, placement }) => [modelId, placement]));
  const placed = new Set<string>();
  for (const [modelId, rule] of rules) {
    if (isPlacedHere(await resolveRule(db, rule), { id, capabilities })) placed.add(modelId);
  }
  return versions.filter(({ modelId }) => placed.has(modelId));
}

/** Whether a variant was not measured on some device that serves models; one that failed there was. */
function lacksPlaces({ variants }: NamedVersion, { devices }: Capabilities, places: readonly MeasuredPlace[]): boolean {
  const serving = devices.filter((device) => modelBackendOf(device) !== undefined);
  return variants.some(({ name }) =>
    serving.some(({ key }) => !places.some(({ variant, deviceKey }) => variant === name && deviceKey === key)),
  );
}
