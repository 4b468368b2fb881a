import { InferenceSession, Tensor } from "onnxruntime-node";
import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { createMatrices, type GemmCase } from "./gemm-case.ts";
import { writeProduct } from "./write-product.ts";

/** ONNX Runtime's CPU provider with as many threads as it likes: no adapter, but what a machine can do without one. */
export const contender: Contender<GemmCase> = async ({ size, products }) => {
  const session = await InferenceSession.create(writeProduct(size), {
    executionProviders: ["cpu"],
    logSeverityLevel: 3,
  });
  const { a, b } = createMatrices(size);
  const feeds = { a: new Tensor("float32", a, [size, size]), b: new Tensor("float32", b, [size, size]) };
  const run = async (count: number): Promise<Float32Array> => {
    for (let i = 1; i < count; i++) await session.run(feeds);
    return (await session.run(feeds))["c"]?.data as Float32Array;
  };
  return createBatchEntry(run, products, { adapter: null });
};
