import type { OnnxTensor } from "../../onnx/onnx-model.ts";
import { integerTensor } from "../../onnx/tensor-values.ts";
import type { LinearLayer } from "./linear-layers.ts";
import { makeNode } from "./make-node.ts";
import type { StoredWeight } from "./replace-weights.ts";

/**
 * Whether something must stand between a DequantizeLinear and the layer that reads it, even if the shape is right. Of
 * one and a matrix of inputs × outputs ONNX Runtime makes an operator that rounds the activations to int8 too
 * (MatMulNBits at accuracy level 4), and weights only is to mean weights only.
 */
export function needsShape({ node, outputAxis }: LinearLayer): boolean {
  return (node.operator === "MatMul" || node.operator === "Gemm") && outputAxis === 1;
}

/** A stored weight with a Reshape behind it that gives it its own shape. */
export function shapeWeight(
  { tensors, nodes }: StoredWeight,
  { name, dims }: OnnxTensor,
  free: (wished: string) => string,
): StoredWeight {
  const shape = integerTensor(free(`${name}_shape`), dims);
  const reshape = makeNode("Reshape", [nodes.at(-1)!.outputs[0]!, shape.name], free(`${name}_shaped`));
  return { tensors: [...tensors, shape], nodes: [...nodes, reshape] };
}
