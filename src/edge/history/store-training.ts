import type { TrainingResult } from "../../protocol/training.ts";
import type { ProjectEnv } from "../config.ts";
import { storeTrainedArchive } from "../archive/store-trained-archive.ts";
import { appendMeasurements } from "../store/point-store.ts";
import type { RunInput } from "../store/run-store.ts";
import { measureTraining } from "./training-measurements.ts";
import type { RunContext } from "./result-measurements.ts";

/** Puts what the training found into the history. Doing it twice changes nothing. */
export async function storeTraining(
  env: ProjectEnv,
  { spec, jobId }: Pick<RunInput, "spec" | "jobId">,
  result: TrainingResult,
  run: RunContext,
): Promise<void> {
  if (spec.kind !== "training") return;
  await storeTrainedArchive(env, jobId, result);
  await appendMeasurements(env.DB, measureTraining(spec, result, run));
}
