import type { PlacedModel } from "../../protocol/link.ts";
import { DEFAULT_CONFIGURATION } from "../../protocol/serving-configuration.ts";
import type { Tensor } from "../../protocol/tensor.ts";
import { askDevice } from "./calibrate-placement.ts";
import type { WorkloadContext } from "./workload.ts";

/** What answers for a variant on the CPU provider with one thread, which all others must agree with. */
export interface ReferenceModel {
  readonly ask: (tensors: readonly Tensor[]) => Promise<Tensor[]>;
  /** Lets go of the model, which may serve requests all the same. */
  readonly close: () => Promise<void>;
}

export async function openReference(
  model: PlacedModel,
  variant: string,
  { fleet, models, signal }: Pick<WorkloadContext, "fleet" | "models" | "signal">,
): Promise<ReferenceModel> {
  const { host } = fleet.cpu;
  signal.throwIfAborted();
  await models.tryApart(model, variant, host, DEFAULT_CONFIGURATION, signal);
  const { modelKey, release } = await models.borrow(model, variant, host, DEFAULT_CONFIGURATION);
  return {
    async ask(tensors) {
      signal.throwIfAborted();
      return askDevice(host, modelKey, tensors);
    },
    close: release,
  };
}
