import type { OnnxAttribute, OnnxNode } from "../../onnx/onnx-model.ts";

/** A node of one of ONNX's own operators with one output, which it is named for. */
export function makeNode(
  operator: string,
  inputs: readonly string[],
  output: string,
  attributes: Readonly<Record<string, OnnxAttribute>> = {},
): OnnxNode {
  return {
    name: `${output}/${operator}`,
    operator,
    domain: "",
    inputs,
    outputs: [output],
    attributes: new Map(Object.entries(attributes)),
  };
}
