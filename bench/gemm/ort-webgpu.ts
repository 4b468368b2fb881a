import { InferenceSession, Tensor } from "onnxruntime-node";
import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { writeOnnxGraph } from "../write-onnx-graph.ts";
import { createMatrices, type GemmCase } from "./gemm-case.ts";
import { writeProduct } from "./write-product.ts";

const WEBGPU: InferenceSession.SessionOptions = { executionProviders: ["webgpu"], logSeverityLevel: 3 };
const ON_GPU: InferenceSession.SessionOptions = { ...WEBGPU, preferredOutputLocation: "gpu-buffer" };

/** ONNX Runtime's WebGPU provider; it looks for its adapter by itself and does not tell which it took. */
export const contender: Contender<GemmCase> = async ({ size, products }) => {
  const graph = writeProduct(size);
  // Outputs stay on the GPU or come back for a whole session, so there is one of each.
  const [staying, returning] = [
    await InferenceSession.create(graph, ON_GPU),
    await InferenceSession.create(graph, WEBGPU),
  ];
  const upload = await createUpload(size);
  const matrices = createMatrices(size);
  const feeds = { a: await upload(matrices.a), b: await upload(matrices.b) };
  const run = async (count: number): Promise<Float32Array> => {
    for (let i = 1; i < count; i++) (await staying.run(feeds))["c"]?.dispose();
    return (await returning.run(feeds))["c"]?.data as Float32Array;
  };
  return createBatchEntry(run, products, { adapter: null });
};

/** There is no call that uploads: −(−x) through a network whose output stays does it. */
async function createUpload(size: number): Promise<(values: Float32Array) => Promise<Tensor>> {
  const value = (name: string) => ({ name, shape: [size, size] });
  const graph = writeOnnxGraph({
    name: "upload",
    inputs: [value("x")],
    outputs: [value("y")],
    nodes: [{ operator: "Neg", inputs: ["x"], output: "y" }],
  });
  const session = await InferenceSession.create(graph, ON_GPU);
  return async (values) => {
    const { y } = await session.run({
      x: new Tensor(
        "float32",
        values.map((each) => -each),
        [size, size],
      ),
    });
    if (y?.location !== "gpu-buffer") throw new Error("it does not keep tensors on the GPU");
    return y;
  };
}
