import type { Logger } from "pino";
import { createId } from "../../protocol/wire/id.ts";
import type { PlacedModel } from "../../protocol/link.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { createUnlikeInputs } from "../../protocol/models/model-inputs.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import { AGREEMENT, extremeError } from "../networks/compare-outputs.ts";
import type { InferenceBackend } from "./queue/inference-server.ts";
import { hasRows, joinTensors, splitRows } from "./queue/join-tensors.ts";

/**
 * Whether requests of a loaded model may share a batch. A free leading dimension may also be a sequence, or rows may be
 * normalised together, or together decide which branch is taken. Therefore rows that differ much are computed one by one
 * and joined, and the answers must be equal. Also warms the model up. Fails with every problem except `backend-failed`.
 */
export async function proveRows(
  modelKey: string,
  model: Pick<PlacedModel, "inputs" | "outputs">,
  backend: InferenceBackend,
  logger: Pick<Logger, "warn">,
): Promise<boolean> {
  const compute = async (tensors: Tensor[]) =>
    (await backend.infer(modelKey, tensors, { requestId: createId("request") })).tensors;
  const inputs = createUnlikeInputs(model.inputs);
  try {
    const alone: Tensor[][] = [];
    for (const each of inputs) alone.push(await compute(each));
    if (!hasRows(model)) return false;
    const split = splitRows(
      await compute(joinTensors(inputs)),
      inputs.map(() => 1),
    );
    return split?.every((together, index) => extremeError(alone[index]!, together) <= AGREEMENT) ?? false;
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.code !== "backend-failed") throw error;
    // A network that rejects generated inputs still serves requests, one by one.
    logger.warn({ modelKey, reason: error.problem.detail }, "requests of a model share no batch");
    return false;
  }
}
