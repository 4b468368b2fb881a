import { create, globals } from "webgpu";
import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { createMatrices, type GemmCase } from "./gemm-case.ts";

/** TensorFlow.js on WebGPU: a browser's library, which wants `navigator.gpu` and is content then. */
export const contender: Contender<GemmCase> = async ({ size, products }) => {
  Object.assign(globalThis, globals);
  const gpu = create([]);
  Object.defineProperty(globalThis.navigator, "gpu", { value: gpu });
  const tf = await import("@tensorflow/tfjs-core");
  await import("@tensorflow/tfjs-backend-webgpu");
  if (!(await tf.setBackend("webgpu"))) throw new Error("it cannot open a WebGPU device");
  const matrices = createMatrices(size);
  const [a, b] = [matrices.a, matrices.b].map((values) => tf.tensor2d(values, [size, size])) as [Tensor, Tensor];
  const run = async (count: number): Promise<Float32Array> => {
    for (let i = 1; i < count; i++) tf.matMul(a, b).dispose();
    const last = tf.matMul(a, b);
    const output = await last.data();
    last.dispose();
    return output;
  };
  return createBatchEntry(run, products, { adapter: await describeAdapter(gpu) });
};

type Tensor = import("@tensorflow/tfjs-core").Tensor;

async function describeAdapter(gpu: GPU): Promise<string | null> {
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (adapter === null) return null;
  const { vendor, architecture, device } = adapter.info;
  return [vendor, architecture, device].filter(Boolean).join(" ");
}
