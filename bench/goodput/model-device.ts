import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeviceHost } from "../../src/gpu-runner/device-host/device-host.ts";
import type { InferenceBackend } from "../../src/gpu-runner/serving/queue/inference-server.ts";
import { joinTensors, rowsOf, splitRows } from "../../src/gpu-runner/serving/queue/join-tensors.ts";
import { modelKeyOf } from "../../src/gpu-runner/serving/queue/model-key.ts";
import { FIRST_VARIANT } from "../../src/protocol/models/model.ts";
import type { Tensor } from "../../src/protocol/wire/tensor.ts";
import { type ModelName, MODELS, writeModel } from "./served-models.ts";

const SILENT = { info() {}, warn() {}, error() {} };

/** The device of every contender: the CPU's process of a runner with both models loaded, or a simulated one. */
export interface PolicyDevice {
  readonly host: InferenceBackend;
  /** Runs requests as one batch; one answer for each, in order. */
  compute(model: ModelName, requests: readonly (readonly Tensor[])[]): Promise<Tensor[][]>;
}

export interface ModelDevice extends PolicyDevice {
  stop(): Promise<void>;
}

/** Starts the process and loads the models. ONNX Runtime has one thread, as everywhere here. */
export async function openModelDevice(): Promise<ModelDevice> {
  const cacheDir = await mkdtemp(join(tmpdir(), "millrace-goodput-"));
  const host = await DeviceHost.start({ role: "cpu", deviceKey: "cpu", cacheDir, logger: SILENT });
  for (const model of MODELS) {
    const content = writeModel(model);
    await host.loadModel({ modelKey: keyOf(model), read: async () => content });
  }
  let batches = 0;
  return {
    host,
    async compute(model, requests) {
      const requestId = `batch${batches++}`;
      const inputs = requests.length === 1 ? requests[0]! : joinTensors(requests);
      const { tensors } = await host.infer(keyOf(model), inputs, { requestId });
      const rows = requests.map((each) => rowsOf(each) ?? 1);
      const answers = splitRows(tensors, rows);
      if (answers === null) throw new Error(`${model} did not answer batches of ${rows.join(" and ")} rows`);
      return answers;
    },
    async stop() {
      await host.stop();
      await rm(cacheDir, { recursive: true, force: true });
    },
  };
}

function keyOf(model: ModelName): string {
  return modelKeyOf({ modelVersionId: model, variant: FIRST_VARIANT });
}
