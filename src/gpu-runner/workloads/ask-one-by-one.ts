import type { PlacedModel } from "../../protocol/link.ts";
import { DEFAULT_CONFIGURATION } from "../../protocol/serving-configuration.ts";
import type { Tensor } from "../../protocol/tensor.ts";
import type { DeviceHost } from "../process/device-host.ts";
import { askDevice } from "./calibrate-placement.ts";
import type { WorkloadContext } from "./workload.ts";

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
