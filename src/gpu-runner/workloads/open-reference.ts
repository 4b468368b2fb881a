import type { PlacedModel } from "../../protocol/link.ts";
import type { Tensor } from "../../protocol/tensor.ts";
import { modelKeyOf } from "../serving/model-key.ts";
import { askDevice } from "./calibrate-placement.ts";
import type { WorkloadContext } from "./workload.ts";

/** What answers for a variant on the CPU provider, which others must agree with. */
export async function openReference(
  model: PlacedModel,
  variant: string,
  { fleet, models, signal }: Pick<WorkloadContext, "fleet" | "models" | "signal">,
): Promise<(tensors: readonly Tensor[]) => Promise<Tensor[]>> {
  const { host } = fleet.cpu;
  signal.throwIfAborted();
  await models.ensureLoaded(model, variant, host);
  const modelKey = modelKeyOf({ modelVersionId: model.modelVersionId, variant });
  return (tensors) => {
    signal.throwIfAborted();
    return askDevice(host, modelKey, tensors);
  };
}
