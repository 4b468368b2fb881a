import type { SeriesKey } from "../../../protocol/history/series.ts";
import type { EvaluationResult, EvaluationSpec } from "../../../protocol/jobs/evaluation/evaluation.ts";
import { toInstant } from "../../clock.ts";
import type { ProjectEnv } from "../../config.ts";
import { openProject } from "../../store/database.ts";
import { appendMeasurements, type Measurement } from "../../store/history/point-store.ts";
import { addPolicyScore } from "../../store/models/version-store.ts";
import type { RunContext, StoredRun } from "../kind.ts";
import { pointsOf } from "../subjects/run-points.ts";

/**
 * An evaluation's points in the history: mean and interquartile mean of each entrant's returns by environment, episodes
 * and seed, and steps a second of the environment by backend, device and network size.
 */
function measureEvaluation(result: EvaluationResult, run: RunContext): Measurement[] {
  const { task, episodes, seed, entrants, throughput, environment } = result;
  const pointsAbout = (subject: string, configuration: SeriesKey["configuration"]) =>
    pointsOf(run, { subjectKind: "policy", subject, configuration, environment });
  const device = environment.deviceName;
  const scored = entrants.flatMap(({ name, scores }) => {
    if (scores === null) return [];
    const point = pointsAbout(name, { environment: task.name, episodes, seed, device });
    return [
      point("meanReturn", "return", "higher", scores.mean.value),
      point("iqm", "score", "higher", scores.iqm.value),
    ];
  });
  if (throughput === null) return scored;
  const { backend, parameters, members, stepsPerSecond, evaluationsPerSecond, devices } = throughput;
  const shared = devices === undefined ? {} : { devices: devices.length };
  const point = pointsAbout(task.name, { backend, parameters, members, episodes, device, ...shared });
  return [
    ...scored,
    point("stepsPerSecond", "1/s", "higher", stepsPerSecond, "runner-wall"),
    point("evaluationsPerSecond", "1/s", "higher", evaluationsPerSecond, "runner-wall"),
  ];
}

/** Stores an evaluation's results in the history and on the cards of its models. Idempotent. */
export async function storeEvaluation(
  env: ProjectEnv,
  { spec, result }: StoredRun<EvaluationSpec>,
  run: RunContext,
): Promise<void> {
  await appendMeasurements(env.DB, measureEvaluation(result, run));
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
