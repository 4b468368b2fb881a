import type { Contender } from "../contest.ts";
import { createTfjsEntry } from "./create-tfjs-entry.ts";
import type { KernelCase } from "./kernel-case.ts";

/** TensorFlow.js on WebAssembly with SIMD; in Node it has one thread. */
export const contender: Contender<KernelCase> = async (input) => {
  const tf = await import("@tensorflow/tfjs-core");
  await import("@tensorflow/tfjs-backend-wasm");
  if (!(await tf.setBackend("wasm"))) throw new Error("it cannot start WebAssembly");
  return createTfjsEntry(tf, input, null);
};
