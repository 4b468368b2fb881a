import type { EvaluationSpec } from "../../../protocol/jobs/evaluation/evaluation.ts";
import type { JobKindModule } from "../kind.ts";
import { isFrom } from "../subjects/kernel-devices.ts";
import { hasSharers, isIn, offerEnvironment, takesEnvironment } from "../subjects/rollouts.ts";
import { prepareEvaluation } from "./prepare-evaluation.ts";
import { storeEvaluation } from "./store-evaluation.ts";

export const evaluation: JobKindModule<EvaluationSpec> = {
  prepare: prepareEvaluation,
  mayRun: ({ environment, devices }, capabilities) =>
    takesEnvironment(environment, capabilities) && hasSharers(capabilities, devices),
  offer: offerEnvironment,
  files: ({ entrants }) => entrants.map(({ digest }) => digest),
  answers: (spec, result) =>
    isIn(spec.environment, result.task.name) &&
    isFrom(result, spec.deviceKey) &&
    result.entrants.length === spec.entrants.length,
  store: storeEvaluation,
};
