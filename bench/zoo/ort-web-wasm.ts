import type { Contender } from "../contest.ts";
import { createZooEntry } from "./create-zoo-entry.ts";
import { readInputs, readNetwork, type ZooCase } from "../../models/zoo-case.ts";

/** ONNX Runtime's WebAssembly provider with SIMD, in Node, on one thread. */
export const contender: Contender<ZooCase> = async (input) => {
  const ort = await import("onnxruntime-web");
  ort.env.wasm.numThreads = 1;
  const [file, inputs] = [await readNetwork(input), await readInputs(input)];
  return createZooEntry(async () => {
    const session = await ort.InferenceSession.create(file, { executionProviders: ["wasm"] });
    const feeds = Object.fromEntries(
      inputs.map(({ name, shape, values }) => [name, new ort.Tensor("float32", values, shape)]),
    );
    return async () => {
      const [output] = Object.values(await session.run(feeds));
      if (output === undefined) throw new Error("it has no output");
      return output.data;
    };
  }, null);
};
