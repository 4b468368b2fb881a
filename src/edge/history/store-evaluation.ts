import type { EvaluationResult } from "../../protocol/evaluation.ts";
import type { ProjectEnv } from "../config.ts";
import { openProject } from "../store/database.ts";
import { toInstant } from "../store/instant.ts";
import { addPolicyScore } from "../store/policy-card-store.ts";
import { appendMeasurements } from "../store/point-store.ts";
import type { RunInput } from "../store/run-store.ts";
import { measureEvaluation } from "./evaluation-measurements.ts";
import type { RunContext } from "./result-measurements.ts";

/** Puts what the evaluation found into the history and on the cards of its models. Doing it twice changes nothing. */
export async function storeEvaluation(
  env: ProjectEnv,
  { spec }: Pick<RunInput, "spec">,
  result: EvaluationResult,
  run: RunContext,
): Promise<void> {
  await appendMeasurements(env.DB, measureEvaluation(result, run));
  if (spec.kind !== "evaluation") return;
  const db = openProject(env);
  const { task, episodes, seed } = result;
  for (const [place, { scores }] of result.entrants.entries()) {
    const { modelVersionId, network } = spec.entrants[place]!;
    if (modelVersionId === undefined || scores === null) continue;
    const score = { environment: task.name, episodes, seed, mean: scores.mean };
    const told = { runId: run.runId, at: toInstant(run.atMs), ...score };
    await addPolicyScore(db, modelVersionId, network, told);
  }
}
