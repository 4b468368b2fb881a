import type { TrainingSpec } from "../../../protocol/jobs/training.ts";
import type { JobKindModule } from "../kind.ts";
import { hasSharers, isIn, offerEnvironment, takesEnvironment } from "../subjects/rollouts.ts";
import { prepareTraining } from "./prepare-training.ts";
import { publishPolicy } from "./publish-policy.ts";
import { storeTraining } from "./store-training.ts";

export const training: JobKindModule<TrainingSpec> = {
  prepare: prepareTraining,
  mayRun: ({ environment, devices }, capabilities) =>
    takesEnvironment(environment, capabilities) && hasSharers(capabilities, devices),
  offer: offerEnvironment,
  files: ({ archiveFile }) => [archiveFile?.digest],
  answers: (spec, { task }) => isIn(spec.environment, task.name),
  publish: publishPolicy,
  store: storeTraining,
};
