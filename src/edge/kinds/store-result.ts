import { edgeVariantsOf } from "../../protocol/models/edge-place.ts";
import type { ProjectEnv } from "../config.ts";
import type { JobResult } from "../../protocol/jobs/job.ts";
import { isPlacedAtEdge, isPlacedHere } from "../fleet/plan-runner.ts";
import { openProject } from "../store/database.ts";
import { isKernelId, markKernelValid } from "../store/kernels/kernel-store.ts";
import { findModelVersion } from "../store/models/model-store.ts";
import { resolveRule } from "../store/models/version-store.ts";
import { savePlacement } from "../store/fleet/placement-store.ts";
import { type RunInput, recordRun } from "../store/history/run-store.ts";
import { findRunner } from "../store/fleet/runner-store.ts";
import { appendMeasurements } from "../store/history/point-store.ts";
import { recordStandings } from "../store/kernels/standing-store.ts";
import { saveTuning } from "../store/kernels/tuning-store.ts";
import { measureCompression } from "./compression.ts";
import { storeEvaluation } from "./evaluation/store-evaluation.ts";
import { storeEvolution } from "./evolution.ts";
import { storeOptimisation } from "./optimisation/store-optimisation.ts";
import { storeTraining } from "./training/store-training.ts";
import { storeValidation } from "./validation/store-validation.ts";
import {
  measureBenchmark,
  measureCalibration,
  measureThroughput,
  measureTuning,
  type RunContext,
} from "./result-measurements.ts";

/**
 * Puts a job's result where it is kept: the run, its measurements, for a benchmark its standing, for a
 * calibration the placements that it proved, for a tuning what it found. Doing it twice changes nothing. Gives the
 * result that counts: where an earlier attempt's is stored, that one.
 */
export async function storeResult(env: ProjectEnv, given: RunInput): Promise<JobResult> {
  const input = await recordRun(openProject(env), given);
  const label = input.spec.label ?? null;
  await storeParts(env, input, { project: env.project, runId: input.id, atMs: input.endedAtMs, label });
  return input.result;
}

/** What a result is beside the run. */
async function storeParts(env: ProjectEnv, input: RunInput, run: RunContext): Promise<void> {
  const db = openProject(env);
  const { result } = input;
  if (result.kind === "benchmark") {
    await appendMeasurements(env.DB, measureBenchmark(result, run));
    const reference = (input.spec.kind === "benchmark" ? input.spec.reference : undefined) ?? result.kernel;
    // Neither a reference that stood in nor several devices together compete with kernels on one.
    const competes = result.fallback === undefined && result.parts === undefined;
    if (competes) await recordStandings(db, result, { ...run, reference });
    if (isKernelId(result.kernel)) await markKernelValid(db, result.kernel);
    return;
  }
  if (result.kind === "throughput") {
    await appendMeasurements(env.DB, measureThroughput(result, run));
    return;
  }
  if (result.kind === "tuning") {
    await saveTuning(db, input, result);
    await appendMeasurements(env.DB, measureTuning(result, run));
    return;
  }
  if (result.kind === "validation") return storeValidation(env, input, result, run);
  if (result.kind === "optimisation") return storeOptimisation(env, input, result, run);
  if (result.kind === "probe" || result.kind === "consensus") return;
  if (result.kind === "evolution") return storeEvolution(env, input, result);
  if (result.kind === "evaluation") return storeEvaluation(env, input, result, run);
  if (result.kind === "compression") return appendMeasurements(env.DB, measureCompression(result, run));
  if (result.kind === "training") return storeTraining(env, input, result, run);
  const version = await findModelVersion(db, result.modelVersionId);
  if (version === null) return;
  // Somebody may measure a model where its rule does not place it.
  const { capabilities = null } = (await findRunner(db, input.runnerId, [])) ?? {};
  const rule = await resolveRule(db, version.placement);
  const isPlaced = capabilities !== null && isPlacedHere(rule, { id: input.runnerId, capabilities });
  const { edgeParameters } = version;
  const atEdge: readonly string[] =
    edgeParameters !== null && isPlacedAtEdge(version) ? edgeVariantsOf(edgeParameters) : [];
  for (const placement of isPlaced ? result.placements : []) {
    // What the edge cannot compute, or is not to, it must not be asked for.
    if (placement.backend === "edge-wasm" && !atEdge.includes(placement.variant)) continue;
    await savePlacement(db, input.runnerId, result, placement);
  }
  await appendMeasurements(env.DB, measureCalibration(result, `${version.model}@${version.version}`, run));
}
