import type { SeriesKey } from "../../../protocol/history/series.ts";
import type { EvaluationResult } from "../../../protocol/jobs/evaluation/evaluation.ts";
import { toInstant } from "../../clock.ts";
import type { ProjectEnv } from "../../config.ts";
import { openProject } from "../../store/database.ts";
import { appendMeasurements, type Measurement } from "../../store/history/point-store.ts";
import type { RunInput } from "../../store/history/run-store.ts";
import { addPolicyScore } from "../../store/models/version-store.ts";
import { type RunContext, single } from "../result-measurements.ts";

/**
 * What an evaluation leaves in the history: mean return and interquartile mean of each entrant by environment, episodes
 * and seed, and steps a second of the environment by backend, device and network size.
 */
function measureEvaluation(result: EvaluationResult, run: RunContext): Measurement[] {
  const { task, episodes, seed, entrants, throughput, environment } = result;
  const pointOf =
    (subject: string, configuration: SeriesKey["configuration"]) =>
    (metric: string, unit: string, value: number, clock: SeriesKey["clock"] = null): Measurement => {
      const { fingerprint, software } = environment;
      const key = { subjectKind: "policy", subject, configuration, fingerprint, software, label: run.label } as const;
      return {
        key: { ...key, metric, unit, direction: "higher", clock },
        project: run.project,
        atMs: run.atMs,
        sourceId: run.runId,
        runId: run.runId,
        aggregate: single(value),
      };
    };
  const device = environment.deviceName;
  const scored = entrants.flatMap(({ name, scores }) => {
    if (scores === null) return [];
    const point = pointOf(name, { environment: task.name, episodes, seed, device });
    return [point("meanReturn", "return", scores.mean.value), point("iqm", "score", scores.iqm.value)];
  });
  if (throughput === null) return scored;
  const { backend, parameters, members, stepsPerSecond, evaluationsPerSecond } = throughput;
  const point = pointOf(task.name, { backend, parameters, members, episodes, device });
  return [
    ...scored,
    point("stepsPerSecond", "1/s", stepsPerSecond, "runner-wall"),
    point("evaluationsPerSecond", "1/s", evaluationsPerSecond, "runner-wall"),
  ];
}

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
