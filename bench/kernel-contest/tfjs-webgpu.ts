import { create, globals } from "webgpu";
import type { Contender } from "../contest.ts";
import { createTfjsEntry } from "./create-tfjs-entry.ts";
import type { KernelCase } from "./kernel-case.ts";

/** TensorFlow.js on WebGPU: a browser's library that only needs `navigator.gpu`. */
export const contender: Contender<KernelCase> = async (input) => {
  Object.assign(globalThis, globals);
  const gpu = create([]);
  Object.defineProperty(globalThis.navigator, "gpu", { value: gpu });
  const tf = await import("@tensorflow/tfjs-core");
  await import("@tensorflow/tfjs-backend-webgpu");
  if (!(await tf.setBackend("webgpu"))) throw new Error("it cannot open a WebGPU device");
  return createTfjsEntry(tf, input, await describeAdapter(gpu));
};

async function describeAdapter(gpu: GPU): Promise<string | null> {
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (adapter === null) return null;
  const { vendor, architecture, device } = adapter.info;
  return [vendor, architecture, device].filter(Boolean).join(" ");
}
