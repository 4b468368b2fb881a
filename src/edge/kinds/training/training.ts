import type { TrainingSpec } from "../../../protocol/jobs/training.ts";
import type { JobKindModule } from "../kind.ts";
import { isIn, offerEnvironment, takesEnvironment } from "../subjects/rollouts.ts";
import { prepareTraining } from "./prepare-training.ts";
import { publishPolicy } from "./publish-policy.ts";
import { storeTraining } from "./store-training.ts";

export const training: JobKindModule<TrainingSpec> = {
  prepare: prepareTraining,
  mayRun: ({ environment }, capabilities) => takesEnvironment(environment, capabilities),
  offer: offerEnvironment,
  files: ({ archiveFile }) => [archiveFile?.digest],
  answers: (spec, { task }) => isIn(spec.environment, task.name),
  publish: publishPolicy,
  store: storeTraining,
};
