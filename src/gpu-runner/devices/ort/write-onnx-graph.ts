import type { OnnxNode, OnnxValue } from "../../../onnx/onnx-model.ts";
import { floatTensor } from "../../../onnx/tensor-values.ts";
import { writeModel } from "../../../onnx/write-model.ts";

/** float32 input or output of the graph; a free dimension is -1. */
export interface GraphValue {
  readonly name: string;
  readonly shape: readonly number[];
}

/** Constant float32 tensor. */
export interface GraphConstant extends GraphValue {
  readonly values: Float32Array;
}

/** Operator; attributes are lists of integers. */
export interface GraphNode {
  readonly operator: string;
  readonly inputs: readonly string[];
  readonly output: string;
  readonly attributes?: Readonly<Record<string, readonly number[]>>;
}

export interface OnnxGraph {
  readonly name: string;
  readonly inputs: readonly GraphValue[];
  readonly outputs: readonly GraphValue[];
  readonly constants?: readonly GraphConstant[];
  readonly nodes: readonly GraphNode[];
}

const IR_VERSION = 8;
const OPSET = 17;

/** ONNX file with just the graph, for trying a provider or measuring single operators. */
export function writeOnnxGraph({ name, inputs, outputs, constants = [], nodes }: OnnxGraph): Uint8Array<ArrayBuffer> {
  const tensors = constants.map((constant) => floatTensor(constant.name, constant.shape, constant.values));
  return writeModel({
    irVersion: IR_VERSION,
    opset: OPSET,
    domains: new Map(),
    name,
    nodes: nodes.map(toNode),
    weights: new Map(tensors.map((tensor) => [tensor.name, tensor])),
    inputs: inputs.map(toValue),
    outputs: outputs.map(toValue),
  });
}

function toNode({ operator, inputs, output, attributes = {} }: GraphNode): OnnxNode {
  const lists = Object.entries(attributes).map(([key, value]) => [key, { kind: "ints", value } as const] as const);
  return { name: "", domain: "", operator, inputs, outputs: [output], attributes: new Map(lists) };
}

/** All free dimensions of a graph share a name, so they have one size. */
function toValue({ name, shape }: GraphValue): OnnxValue {
  return { name, dtype: "float32", shape: shape.map((size) => (size === -1 ? "rows" : size)) };
}
