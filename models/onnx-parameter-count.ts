import { countElements } from "../src/onnx/onnx-model.ts";
import { readModel } from "../src/onnx/read-model.ts";

/**
 * Number of float32 parameters in an ONNX file: the sum over its float initializers (integer ones are shapes and axes,
 * not weights).
 * @throws when the bytes are no model.
 */
export function countOnnxParameters(file: Uint8Array): number {
  const floats = [...readModel(file).weights.values()].filter(({ dtype }) => dtype === "float32");
  return floats.reduce((sum, { dims }) => sum + countElements(dims), 0);
}
