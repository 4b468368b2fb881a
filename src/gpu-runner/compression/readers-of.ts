import type { OnnxModel } from "../../onnx/onnx-model.ts";

/** How many times something that a network computes is read, as the network's output too. */
export function readersOf({ nodes, outputs }: OnnxModel, name: string): number {
  const inside = nodes.reduce((sum, { inputs }) => sum + inputs.filter((input) => input === name).length, 0);
  return inside + (outputs.some((output) => output.name === name) ? 1 : 0);
}
