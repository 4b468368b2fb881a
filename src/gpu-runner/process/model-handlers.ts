import { measureMemory } from "../serving/backends/measure-memory.ts";
import type { OrtBackend } from "../serving/backends/ort-backend.ts";
import type { DeviceHandlers } from "./messages.ts";

/** Answers the calls that are about models by ONNX Runtime. */
export function createModelHandlers(
  ort: OrtBackend,
): Pick<DeviceHandlers, "loadModel" | "unloadModel" | "measureMemory" | "infer"> {
  return {
    loadModel: ({ modelKey, model }) => ort.load(modelKey, model),
    unloadModel: async ({ modelKey }) => {
      await ort.unload(modelKey);
      return null;
    },
    measureMemory: ({ model, batches }) => measureMemory(ort, model, batches),
    infer: ({ modelKey, tensors }) => ort.run(modelKey, tensors),
  };
}
