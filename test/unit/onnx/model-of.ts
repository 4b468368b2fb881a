import type { OnnxAttribute, OnnxModel, OnnxNode, OnnxTensor, OnnxValue } from "../../../src/onnx/onnx-model.ts";

/** A node of ONNX's own; whole numbers of attributes are an int, lists of them ints. */
export function nodeOf(
  operator: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: Readonly<Record<string, number | readonly number[] | OnnxAttribute>> = {},
): OnnxNode {
  const entries = Object.entries(attributes).map(([name, value]): [string, OnnxAttribute] => {
    if (typeof value === "number") return [name, { kind: "int", value }];
    return [name, "kind" in value ? value : { kind: "ints", value }];
  });
  return { name: "", domain: "", operator, inputs, outputs, attributes: new Map(entries) };
}

export function floatValue(name: string, shape: OnnxValue["shape"]): OnnxValue {
  return { name, dtype: "float32", shape };
}

interface Parts {
  readonly nodes: readonly OnnxNode[];
  readonly tensors?: readonly OnnxTensor[];
  readonly inputs?: readonly OnnxValue[];
  readonly outputs?: readonly OnnxValue[];
  readonly opset?: number;
}

/** A network with the input x [n, 4] and the output y, if nothing else is said. */
export function modelOf({
  nodes,
  tensors = [],
  inputs = [floatValue("x", ["n", 4])],
  outputs = [floatValue("y", ["n", 4])],
  opset = 17,
}: Parts): OnnxModel {
  const weights = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  return { irVersion: 8, opset, domains: new Map(), name: "graph", nodes, weights, inputs, outputs };
}
