import { measureMemory } from "../serving/backends/measure-memory.ts";
import { measureStart } from "../serving/backends/measure-start.ts";
import type { OrtBackend } from "../serving/backends/ort-backend.ts";
import type { DeviceHandlers } from "./messages.ts";

/** Answers the calls that are about models by ONNX Runtime. */
export function createModelHandlers(
  ort: OrtBackend,
): Pick<DeviceHandlers, "loadModel" | "unloadModel" | "measureMemory" | "measureStart" | "infer"> {
  return {
    loadModel: ({ modelKey, model, threads }) => ort.load(modelKey, model, threads),
    unloadModel: async ({ modelKey }) => {
      await ort.unload(modelKey);
      return null;
    },
    measureMemory: ({ model, batches, threads }) => measureMemory(ort, model, batches, threads),
    measureStart: ({ model, tensors, threads }) => measureStart(ort, model, tensors, threads),
    infer: ({ modelKey, tensors }) => ort.run(modelKey, tensors),
  };
}
