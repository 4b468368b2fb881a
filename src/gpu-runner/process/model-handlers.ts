import { measureMemory } from "../serving/backends/measure-memory.ts";
import type { OrtBackend } from "../serving/backends/ort-backend.ts";
import type { DeviceHandlers } from "./messages.ts";

/** Answers the calls that are about models by ONNX Runtime. */
export function createModelHandlers(
  ort: OrtBackend,
): Pick<DeviceHandlers, "loadModel" | "unloadModel" | "measureMemory" | "infer"> {
  return {
    loadModel: ({ modelVersionId, model }) => ort.load(modelVersionId, model),
    unloadModel: async ({ modelVersionId }) => {
      await ort.unload(modelVersionId);
      return null;
    },
    measureMemory: ({ model, batches }) => measureMemory(ort, model, batches),
    infer: ({ modelVersionId, tensors }) => ort.run(modelVersionId, tensors),
  };
}
