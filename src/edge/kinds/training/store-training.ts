import type { TrainingResult, TrainingSpec } from "../../../protocol/jobs/training.ts";
import type { ProjectEnv } from "../../config.ts";
import { appendMeasurements, type Measurement } from "../../store/history/point-store.ts";
import type { RunContext, StoredRun } from "../kind.ts";
import { pointsOf } from "../subjects/run-points.ts";
import { storeTrainedArchive } from "./archives.ts";

/**
 * A training's points in the history of its environment, by algorithm, network and device: mean return of its policy
 * over fresh episodes, steps a second, and the generations until it was solved, if it was.
 */
function measureTraining(spec: TrainingSpec, result: TrainingResult, run: RunContext): Measurement[] {
  const { task, algorithm, network, best, throughput, solvedAtGeneration, environment } = result;
  const { name, ...settings } = algorithm;
  const point = pointsOf(run, {
    subjectKind: "policy",
    subject: task.name,
    configuration: {
      ...flatten(settings),
      algorithm: name,
      episodes: spec.episodes,
      network: network.kind,
      parameters: throughput.parameters,
      backend: throughput.backend,
      device: environment.deviceName,
      ...(throughput.devices !== undefined && { devices: throughput.devices.length }),
    },
    environment,
  });
  return [
    point("trainedReturn", "return", "higher", best.mean.value),
    point("trainingStepsPerS", "1/s", "higher", throughput.stepsPerSecond, "runner-wall"),
    ...(solvedAtGeneration === null ? [] : [point("generationsToSolve", "generations", "lower", solvedAtGeneration)]),
  ];
}

/** Settings flattened for a series: numbers and texts. */
function flatten(settings: Readonly<Record<string, unknown>>): Record<string, string | number> {
  const set = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    set.map(([name, value]) => [
      name,
      typeof value === "number" || typeof value === "string" ? value : JSON.stringify(value),
    ]),
  );
}

/** Stores a training's results in the history. Idempotent. */
export async function storeTraining(
  env: ProjectEnv,
  { spec, jobId, result }: StoredRun<TrainingSpec>,
  run: RunContext,
): Promise<void> {
  await storeTrainedArchive(env, jobId, result);
  await appendMeasurements(env.DB, measureTraining(spec, result, run));
}
