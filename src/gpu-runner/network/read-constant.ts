import { ELEMENTS, type OnnxTensor } from "../../onnx/onnx-model.ts";
import { floatsOf, integersOf } from "../../onnx/tensor-values.ts";
import type { Constant } from "./network-value.ts";

const FLOATS = new Set<keyof typeof ELEMENTS>(["float32", "float64", "float16"]);

/** The numbers of a tensor of the file; null where they are none that activations are computed from. */
export function readConstant(tensor: OnnxTensor): Constant | null {
  const { dtype, dims: shape } = tensor;
  if (FLOATS.has(dtype)) {
    const grain = dtype === "float16" ? { grain: { bits: 16 } as const } : {};
    return { kind: "constant", shape, floats: floatsOf(tensor), ...grain };
  }
  if (["string", "bfloat16", "uint32", "uint64"].includes(dtype)) return null;
  return { kind: "constant", shape, floats: Float32Array.from(integersOf(tensor)) };
}
