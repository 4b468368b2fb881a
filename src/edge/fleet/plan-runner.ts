import { type Capabilities, fingerprintText, modelBackendOf } from "../../protocol/fleet/hardware.ts";
import type { PlacementRule } from "../../protocol/fleet/serving.ts";
import type { PlacedModel } from "../../protocol/link.ts";
import { EDGE_RUNNER_ID } from "../../protocol/models/edge-place.ts";
import type { ModelVersion } from "../../protocol/models/model.ts";
import { openDatabase, openProject } from "../store/database.ts";
import { type MeasuredPlace, readMeasuredPlaces } from "../store/fleet/placement-store.ts";
import { fitProfile } from "../store/fleet/profile-fit.ts";
import type { AnnouncedRunner } from "../store/fleet/runner-store.ts";
import { type NamedVersion, toPlacedModel } from "../store/models/model-store.ts";
import { type ResolvedRule, resolveRule } from "../store/models/version-store.ts";

/** Whether a model with this rule is measured and served on a runner. */
export function isPlacedHere(rule: ResolvedRule, runner: { id: string; capabilities: Capabilities }): boolean {
  switch (rule.kind) {
    case "automatic":
      return true;
    case "pinned":
      return rule.runnerIds.includes(runner.id);
    case "profile":
      return rule.profile !== null && fitProfile(rule.profile, runner.capabilities).fits;
    case "none":
      return false;
  }
}

/** Whether the edge may serve a version: it can compute it, and no rule restricts it to other places. */
export function isPlacedAtEdge(version: Pick<ModelVersion, "edgeParameters"> & { placement: PlacementRule }): boolean {
  return version.edgeParameters !== null && version.placement.kind === "automatic";
}

/** Version that a runner has yet to measure. */
export type OwedVersion = Pick<NamedVersion, "id" | "project">;

export interface RunnerPlan {
  /** Versions that the runner keeps warm, where it is eligible. */
  readonly placed: PlacedModel[];
  /** Versions to calibrate in full: latest versions without measurements, and those with outdated ones. */
  readonly uncalibrated: OwedVersion[];
  /** Ids of placements to delete: measured on a device that has changed since, or no longer placed there. */
  readonly outdated: string[];
}

/**
 * Plans a runner's work for these versions, which are in order and complete for their models. A placement is valid
 * while its device has the fingerprint of the measurement, the runner works for the model's project, and the model's
 * rule places it there.
 */
export async function planRunner(
  DB: D1Database,
  all: readonly NamedVersion[],
  runner: AnnouncedRunner,
): Promise<RunnerPlan> {
  const { capabilities } = runner;
  const asked = new Set(all.map(({ id }) => id));
  const places = await readMeasuredPlaces(openDatabase(DB), runner.id);
  const measured = places.filter(({ versionId }) => asked.has(versionId));
  const versions = await keepPlaced(DB, all, runner);
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
      const eligible = (current.get(version.id) ?? []).filter(({ isEligible }) => isEligible);
      if (eligible.length === 0) return [];
      return toPlacedModel(version, eligible);
    }),
    uncalibrated: versions
      .filter((version) => owed.has(version.id) && lacksPlaces(version, capabilities, current.get(version.id) ?? []))
      .map(toOwed),
    outdated: outdated.map(({ placementId }) => placementId),
  };
}

/**
 * Plans the edge's work for the versions of a model, which are in order. Runners also measure the edge: they calibrate
 * the latest version where it may serve at the edge and lacks a measurement there.
 */
export async function planEdge(
  DB: D1Database,
  versions: readonly NamedVersion[],
): Promise<Pick<RunnerPlan, "uncalibrated" | "outdated">> {
  const measured = await readMeasuredPlaces(openDatabase(DB), EDGE_RUNNER_ID);
  const placesOf = ({ id }: NamedVersion) => measured.filter(({ versionId }) => versionId === id);
  const latest = versions.slice(-1).filter(isPlacedAtEdge);
  return {
    uncalibrated: latest.filter((version) => placesOf(version).length === 0).map(toOwed),
    outdated: versions
      .filter((version) => !isPlacedAtEdge(version))
      .flatMap(placesOf)
      .map(({ placementId }) => placementId),
  };
}

/** Versions that their models' rules place on the runner, from projects that it works for. */
async function keepPlaced(
  DB: D1Database,
  all: readonly NamedVersion[],
  runner: AnnouncedRunner,
): Promise<NamedVersion[]> {
  const versions = all.filter(({ project }) => runner.shared || project === runner.project);
  const models = new Map(versions.map((version) => [version.modelId, version]));
  const placed = new Set<string>();
  for (const [modelId, { project, placement }] of models) {
    if (isPlacedHere(await resolveRule(openProject({ DB, project }), placement), runner)) placed.add(modelId);
  }
  return versions.filter(({ modelId }) => placed.has(modelId));
}

function toOwed({ id, project }: NamedVersion): OwedVersion {
  return { id, project };
}

/** Whether a variant lacks a measurement on a device that serves models; a failed one counts as measured. */
function lacksPlaces({ variants }: NamedVersion, { devices }: Capabilities, places: readonly MeasuredPlace[]): boolean {
  const serving = devices.filter((device) => modelBackendOf(device) !== undefined);
  return variants.some(({ name }) =>
    serving.some(({ key }) => !places.some(({ variant, deviceKey }) => variant === name && deviceKey === key)),
  );
}
