import type { PolicyCard } from "../../../protocol/models/policy-network.ts";
import type { TrainingResult, TrainingSpec } from "../../../protocol/jobs/training.ts";
import type { ProjectEnv } from "../../config.ts";
import { readStoredModel } from "../../models/stored-model.ts";
import { openProject } from "../../store/database.ts";
import { toInstant } from "../../clock.ts";
import { findJobArtifact } from "../../store/artifact-store.ts";
import { addModelVersion } from "../../store/models/model-store.ts";
import { runIdOf } from "../../store/history/run-store.ts";
import type { Published, StoredRun } from "../kind.ts";

/**
 * Makes a training's policy a version of its model, with its card, if the training asked for it. Idempotent: the same
 * bytes are the same version. Null if there is nothing to publish, the runner's file cannot be published, or the
 * project's quota of versions is used up; the training is stored anyway.
 */
export async function publishPolicy(
  env: ProjectEnv,
  { jobId, spec, endedAtMs }: StoredRun<TrainingSpec>,
  result: TrainingResult,
): Promise<Published<TrainingResult> | null> {
  if (spec.publish === undefined) return null;
  const { model: name } = spec.publish;
  const db = openProject(env);
  const artifact = await findJobArtifact(db, jobId, "policy");
  const description = artifact === null ? null : await readStoredModel(env.ARTIFACTS, artifact.digest);
  if (artifact === null || description === null) {
    console.error(JSON.stringify({ event: "policy-not-published", jobId, digest: artifact?.digest ?? null }));
    return null;
  }
  const { digest, sizeBytes } = artifact;
  const card = cardOf(jobId, endedAtMs, result);
  const added = await addModelVersion(db, { name, digest, sizeBytes, ...description, card });
  if (added === null) {
    console.error(JSON.stringify({ event: "policy-not-published", jobId, digest, reason: "quota-exceeded" }));
    return null;
  }
  const { model, version } = added;
  const published = { model: model.name, modelVersionId: version.id };
  return { result: { ...result, published }, modelVersionId: version.id, placement: model.placement };
}

function cardOf(jobId: string, endedAtMs: number, result: TrainingResult): PolicyCard {
  const { task, network, algorithm, generations, throughput, best } = result;
  const { episodes, seed, mean } = best;
  return {
    environment: task.name,
    network,
    training: { jobId, algorithm: algorithm.name, generations, steps: throughput.steps, seed },
    scores: [{ runId: runIdOf(jobId), environment: task.name, episodes, seed, mean, at: toInstant(endedAtMs) }],
  };
}
