import type { PlacementRule } from "../../protocol/fleet/serving.ts";
import { invalidRequest } from "../../protocol/wire/parse-input.ts";
import type { FieldError } from "../../protocol/wire/problem.ts";
import { jobQueue, type ProjectEnv } from "../config.ts";
import { openProject, type ProjectDatabase } from "../store/database.ts";
import { deletePlacements } from "../store/fleet/placement-store.ts";
import { findProfile } from "../store/fleet/profile-store.ts";
import { findRunnerIds, readRunnerCapabilities } from "../store/fleet/runner-store.ts";
import { readVersionsOf } from "../store/models/model-store.ts";
import { resolveRule, setPlacementRule } from "../store/models/version-store.ts";
import { planEdge, planRunner } from "./plan-runner.ts";

/** Queues a calibration of a version with a new file on every runner where its model's rule places it. */
export async function calibrateEverywhere(env: ProjectEnv, versionId: string, rule: PlacementRule): Promise<void> {
  await jobQueue(env).calibrateEverywhere(env.project, versionId, await resolveRule(openProject(env), rule));
}

/** Sets a model's placement rule and updates its placements. Throws `invalid-request` for unknown names. */
export async function changePlacementRule(env: ProjectEnv, modelId: string, rule: PlacementRule): Promise<void> {
  const db = openProject(env);
  const errors = await checkRule(db, rule);
  if (errors.length > 0) throw invalidRequest(errors);
  await setPlacementRule(db, modelId, rule);
  await applyRules(env, modelId);
}

/** Deletes the placements that the rules no longer allow and queues calibrations of those that they add. */
async function applyRules(env: ProjectEnv, modelId: string): Promise<void> {
  const db = openProject(env);
  const nowMs = Date.now();
  const [versions, runners] = await Promise.all([readVersionsOf(db), readRunnerCapabilities(db)]);
  const edge = await planEdge(
    env.DB,
    versions.filter((version) => version.modelId === modelId),
  );
  await deletePlacements(db, edge.outdated, nowMs);
  const plans = [];
  for (const runner of runners) plans.push({ id: runner.id, ...(await planRunner(env.DB, versions, runner)) });
  const owed = new Set(plans.flatMap(({ uncalibrated }) => uncalibrated.map(({ id }) => id)));
  // A runner that calibrates a version also measures the edge. Where none owes one, all are asked, since some may be
  // offline.
  const edgeOnly = edge.uncalibrated.filter(({ id }) => !owed.has(id));
  for (const { id, uncalibrated, outdated } of plans) {
    await deletePlacements(db, outdated, nowMs);
    await jobQueue(env).ensureCalibrations(id, [...uncalibrated, ...edgeOnly]);
  }
}

/** Checks that the rule's names exist, which the schema cannot. */
async function checkRule(db: ProjectDatabase, rule: PlacementRule): Promise<FieldError[]> {
  if (rule.kind === "profile" && (await findProfile(db, rule.profile)) === null) {
    return [{ pointer: "#/profile", message: "is not a hardware profile" }];
  }
  if (rule.kind !== "pinned") return [];
  const known = await findRunnerIds(db, rule.runnerIds);
  return rule.runnerIds.flatMap((id, index) =>
    known.has(id) ? [] : [{ pointer: `#/runnerIds/${index}`, message: "is not a registered runner" }],
  );
}
