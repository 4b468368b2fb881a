import { countElements } from "../src/onnx/onnx-model.ts";
import { readModel } from "../src/onnx/read-model.ts";

/**
 * How many float32 parameters an ONNX file holds: the sizes of its float initializers added up (integer ones
 * are shapes and axes, not weights).
 *
 * @throws when the bytes are no model.
 */
export function countOnnxParameters(file: Uint8Array): number {
  const floats = [...readModel(file).weights.values()].filter(({ dtype }) => dtype === "float32");
  return floats.reduce((sum, { dims }) => sum + countElements(dims), 0);
}
