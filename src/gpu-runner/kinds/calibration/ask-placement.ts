import { DEFAULT_CONFIGURATION } from "../../../protocol/fleet/serving.ts";
import type { PlacedModel } from "../../../protocol/link.ts";
import type { Tensor } from "../../../protocol/wire/tensor.ts";
import type { OnnxModel } from "../../../onnx/onnx-model.ts";
import { readModel } from "../../../onnx/read-model.ts";
import { type ModelContent, readModelPaths } from "../../devices/ort/model-paths.ts";
import { roundsActivations, roundsByItself } from "../../devices/ort/whole-products.ts";
import { planNetwork } from "../../networks/plan-network.ts";
import { SizedNetwork } from "../../networks/sized-network.ts";
import { AGREEMENT, agreementAt } from "../../networks/compare-outputs.ts";
import type { DeviceHost } from "../../device-host/device-host.ts";
import type { WorkloadContext } from "../kind.ts";
import { askDevice } from "./calibrate-placement.ts";

/**
 * A variant's outputs for these inputs on a device, borrowed for the purpose with one thread. Fails as the device does.
 */
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

/** Reference for a variant: the CPU provider with one thread, with which all others must agree. */
export interface ReferenceModel {
  readonly ask: (tensors: readonly Tensor[]) => Promise<Tensor[]>;
  /** Largest error of a device that agrees. */
  readonly agreement: number;
  /** Releases the model, which may go on serving requests. */
  readonly close: () => Promise<void>;
}

export async function openReference(
  model: PlacedModel,
  variant: string,
  { fleet, models, residency, signal }: Pick<WorkloadContext, "fleet" | "models" | "residency" | "signal">,
): Promise<ReferenceModel> {
  const { host } = fleet.cpu;
  signal.throwIfAborted();
  const agreement = await findAgreement(model, variant, residency);
  await models.tryApart(model, variant, host, DEFAULT_CONFIGURATION, signal);
  const { modelKey, release } = await models.borrow(model, variant, host, DEFAULT_CONFIGURATION);
  return {
    async ask(tensors) {
      signal.throwIfAborted();
      return askDevice(host, modelKey, tensors);
    },
    agreement,
    close: release,
  };
}

/** Largest error at which a backend's answers for a variant count as the CPU provider's. */
export async function findAgreement(
  { variants }: PlacedModel,
  variant: string,
  residency: WorkloadContext["residency"],
): Promise<number> {
  const { digest, files } = variants.find(({ name }) => name === variant)!;
  try {
    return await agreementOf(await residency.read(digest, files));
  } catch {
    // The backends report what they cannot read.
    return AGREEMENT;
  }
}

/** Whether our own kernels compute products of a network in float16 where a device has it. */
function mayUseHalves(model: OnnxModel): boolean {
  if (![...model.weights.values()].some(({ dtype, dims }) => dtype === "float16" && dims.length === 2)) return false;
  try {
    return planNetwork(model).operators.some(({ narrow }) => narrow?.bits === 16);
  } catch {
    // They refuse the network, or plan it once its sizes are known.
    return SizedNetwork.fits(model);
  }
}

/** The same for a file. Throws where it cannot be read. */
export async function agreementOf(content: ModelContent): Promise<number> {
  // Models that are opened by their paths are computed as they are.
  if (!(content instanceof Uint8Array)) {
    return agreementAt(roundsByItself(await readModelPaths(content)) ? 8 : null);
  }
  const model = readModel(content);
  if (roundsActivations(model)) return agreementAt(8);
  return agreementAt(mayUseHalves(model) ? 16 : null);
}
