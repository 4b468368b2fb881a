import { createProblem, type Problem, toProblem } from "../../protocol/problem.ts";
import type { ServedVariant } from "./model-key.ts";
import type { ModelLoader } from "./model-loader.ts";

/** The caller named a model that is there; that its process lost it is for us to mend. */
const MODEL_GONE = createProblem("no-placement", "The model is being loaded again.", { retryAfterMs: 500 });

/** The problem of a request that failed, for whoever asked; a model that was lost is loaded again for the next. */
export function explainFailure(
  models: Pick<ModelLoader, "noteFailure">,
  served: ServedVariant,
  error: unknown,
): Problem {
  models.noteFailure(served, error);
  const problem = toProblem(error);
  return problem.code === "not-found" ? MODEL_GONE : problem;
}
