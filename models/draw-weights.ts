import { floatsOf, floatTensor } from "../src/onnx/tensor-values.ts";
import { readModel } from "../src/onnx/read-model.ts";
import { writeModel } from "../src/onnx/write-model.ts";
import { createDraws, toNormals } from "../src/stats/random/draws.ts";

/**
 * The same network without its training: every weight drawn from a normal distribution with its tensor's standard
 * deviation. Tensors of a single number, such as a bound or an exponent, stay.
 */
export function drawWeights(file: Uint8Array, seed: number): Uint8Array<ArrayBuffer> {
  const model = readModel(file);
  const draws = createDraws({ seed, stream: 0, member: 0, episode: 0, step: 0 });
  const scales = new Set(model.nodes.flatMap(({ operator, inputs }) => (operator === "Resize" ? inputs : [])));
  const weights = [...model.weights].map(([name, tensor]) => {
    if (tensor.dtype !== "float32" || scales.has(name)) return [name, tensor] as const;
    const values = floatsOf(tensor);
    if (values.length < 2) return [name, tensor] as const;
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
    for (let at = 0; at < values.length; at += 4) {
      const normals = toNormals(draws.words());
      for (let i = at; i < Math.min(at + 4, values.length); i++) values[i] = spread * normals[i - at]!;
    }
    return [name, floatTensor(name, tensor.dims, values)] as const;
  });
  return writeModel({ ...model, weights: new Map(weights) });
}
