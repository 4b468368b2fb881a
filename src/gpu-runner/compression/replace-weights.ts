import type { OnnxModel, OnnxNode, OnnxTensor } from "../../onnx/onnx-model.ts";
import { dropUnusedWeights } from "./drop-unused-weights.ts";

/** How a weight is stored from now on: tensors, and nodes that make the weight of them. */
export interface StoredWeight {
  readonly tensors: readonly OnnxTensor[];
  /** In their order; the last one's output stands for the weight. */
  readonly nodes: readonly OnnxNode[];
}

/** The same network with some weights, by name, stored otherwise. The nodes that make them come first. */
export function replaceWeights(model: OnnxModel, stored: ReadonlyMap<string, StoredWeight>): OnnxModel {
  const weights = new Map(model.weights);
  const renamed = new Map<string, string>();
  for (const [name, { tensors, nodes }] of stored) {
    for (const tensor of tensors) weights.set(tensor.name, tensor);
    renamed.set(name, nodes.at(-1)!.outputs[0]!);
  }
  const readers = model.nodes.map((node) => ({
    ...node,
    inputs: node.inputs.map((name) => renamed.get(name) ?? name),
  }));
  const makers = [...stored.values()].flatMap(({ nodes }) => nodes);
  return dropUnusedWeights({ ...model, nodes: [...makers, ...readers], weights });
}
