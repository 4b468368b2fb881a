import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { inputOf, type MlpCase, writeModel } from "./mlp-case.ts";
import { runsOf } from "./runs-of.ts";

/** ONNX Runtime's WebAssembly provider with SIMD, in Node, on one thread as in a Worker; the input stays in place. */
export const contender: Contender<MlpCase> = async (input) => {
  const ort = await import("onnxruntime-web");
  ort.env.wasm.numThreads = 1;
  const session = await ort.InferenceSession.create(writeModel(input), { executionProviders: ["wasm"] });
  const feeds = { x: new ort.Tensor("float32", inputOf(input), [1, input.widths[0] ?? 0]) };
  const run = async (count: number): Promise<Float32Array> => {
    for (let i = 1; i < count; i++) await session.run(feeds);
    const { y } = await session.run(feeds);
    if (y === undefined) throw new Error("it has no output");
    return y.data;
  };
  return createBatchEntry(run, Math.ceil(runsOf(input) / 4), { adapter: null });
};
