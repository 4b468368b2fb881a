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

/** Whether a model with this rule is to be measured and served on a runner. */
export function isPlacedHere(rule: ResolvedRule, runner: { id: string; capabilities: Capabilities }): boolean {
  switch (rule.kind) {
    case "automatic":
      return true;
    case "pinned":
      return rule.runnerIds.includes(runner.id);
    case "profile":
      return rule.profile !== null && fitProfile(rule.profile, runner.capabilities).fits;
  }
}

/** Whether the edge may serve a version, too: it can compute it, and no rule names other places. */
export function isPlacedAtEdge(version: Pick<ModelVersion, "edgeParameters"> & { placement: PlacementRule }): boolean {
  return version.edgeParameters !== null && version.placement.kind === "automatic";
}

/** A version that a runner was not measured with. */
export type OwedVersion = Pick<NamedVersion, "id" | "project">;

export interface RunnerPlan {
  /** Versions that the runner shall keep warm, each where it is eligible. */
  readonly placed: PlacedModel[];
  /** What it was not measured with yet, whole: latest versions, and those whose measurements are outdated. */
  readonly uncalibrated: OwedVersion[];
  /** Placements of these versions that were measured on what this runner is no longer, or where they are not placed any more. */
  readonly outdated: string[];
}

/**
 * What a runner shall do about these versions, which stand in order and are all of their models. A placement counts only
 * while the fingerprint of its device is the one that it was measured on, while the runner works for the model's project,
 * and while the model's rule places it there.
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
 * What is to be done about the edge for the versions of a model, in order. Runners measure the edge beside
 * themselves, so the latest version is theirs to calibrate where it may serve there and was not measured there.
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

/** The versions of those whom the runner works for that their models' rules place on it. */
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

/** Whether a variant was not measured on some device that serves models; one that failed there was. */
function lacksPlaces({ variants }: NamedVersion, { devices }: Capabilities, places: readonly MeasuredPlace[]): boolean {
  const serving = devices.filter((device) => modelBackendOf(device) !== undefined);
  return variants.some(({ name }) =>
    serving.some(({ key }) => !places.some(({ variant, deviceKey }) => variant === name && deviceKey === key)),
  );
}
