import { OrtBackend, type OrtProvider } from "../../src/gpu-runner/devices/ort/ort-backend.ts";
import { typedView } from "../../src/protocol/wire/tensor.ts";
import type { Contender } from "../contest.ts";
import { createZooEntry } from "./create-zoo-entry.ts";
import { readNetwork, readTensors, type ZooCase } from "../../models/zoo-case.ts";

/** ONNX Runtime by one of its providers, with a runner's settings for models. */
export const serveByOrt =
  (provider: OrtProvider): Contender<ZooCase> =>
  async (input) => {
    const [file, tensors] = [await readNetwork(input), await readTensors(input)];
    const backend = new OrtBackend(provider);
    return createZooEntry(async () => {
      await backend.load(input.model, file);
      return async () => typedView((await backend.run(input.model, tensors)).tensors[0]!) as Float32Array;
    }, null);
  };
