import type { OnnxModel } from "../../onnx/onnx-model.ts";

/** The same network without weights that nothing reads. */
export function dropUnusedWeights(model: OnnxModel): OnnxModel {
  const read = new Set([...model.nodes.flatMap(({ inputs }) => inputs), ...model.outputs.map(({ name }) => name)]);
  return { ...model, weights: new Map([...model.weights].filter(([name]) => read.has(name))) };
}
