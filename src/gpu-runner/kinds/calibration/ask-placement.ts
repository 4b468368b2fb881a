import { DEFAULT_CONFIGURATION } from "../../../protocol/fleet/serving.ts";
import type { PlacedModel } from "../../../protocol/link.ts";
import type { Tensor } from "../../../protocol/wire/tensor.ts";
import type { DeviceHost } from "../../device-host/device-host.ts";
import type { WorkloadContext } from "../kind.ts";
import { askDevice } from "./calibrate-placement.ts";

/** What a variant answers to these inputs on a device, which borrows it for that with one thread. Fails as the device does. */
export async function askOneByOne(
  model: PlacedModel,
  variant: string,
  host: DeviceHost,
  inputs: readonly Tensor[][],
  { models, signal }: Pick<WorkloadContext, "models" | "signal">,
): Promise<Tensor[][]> {
  const { modelKey, release } = await models.borrow(model, variant, host, DEFAULT_CONFIGURATION);
  try {
    const answers: Tensor[][] = [];
    for (const tensors of inputs) {
      signal.throwIfAborted();
      answers.push(await askDevice(host, modelKey, tensors));
    }
    return answers;
  } finally {
    await release();
  }
}

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
