import type { OnnxModel, OnnxNode, OnnxValue } from "../src/onnx/onnx-model.ts";
import { floatTensor } from "../src/onnx/tensor-values.ts";
import { writeModel } from "../src/onnx/write-model.ts";

/** Operators of ONNX for activations. */
const ACTIVATIONS = { tanh: "Tanh", relu: "Relu", sigmoid: "Sigmoid" } as const;

/** A dense layer `y = x · weightsᵀ + bias`; `weights` is [outputs, inputs] row by row, `bias` is [outputs]. */
export type DenseLayer = {
  inputs: number;
  outputs: number;
  weights: Float32Array;
  bias: Float32Array;
  /** Activation after the layer; default: tanh, but none after the last layer. */
  activation?: keyof typeof ACTIVATIONS | "none";
  /** The output has the layer's inputs before its outputs. */
  keepsInputs?: boolean;
};

export type OnnxMlp = {
  /** Name of the graph. */
  name: string;
  /** Name of the float32 input [batch, inputs of the first layer]; the batch is free. */
  input: string;
  /** Name of the float32 output [batch, outputs of the last layer]. */
  output: string;
  /** At least one. */
  layers: readonly DenseLayer[];
};

/** Opset of the file: Concat, Gemm, Tanh and Sigmoid are at revision 13 in it, Relu at 14. */
export const ONNX_OPSET = 17;
const IR_VERSION = 8; // the one that came with opset 17; newer ones are refused by older runtimes

/**
 * A dense network as the bytes of an ONNX file: Gemm, Tanh, …, Gemm, or with other activations, weights inside. The same network
 * gives the same bytes.
 *
 * @throws RangeError where the layers do not fit each other or their arrays.
 */
export function writeOnnxMlp(mlp: OnnxMlp): Uint8Array<ArrayBuffer> {
  assertLayersFit(mlp.layers);
  const { input, output, layers } = mlp;
  return writeModel({
    irVersion: IR_VERSION,
    opset: ONNX_OPSET,
    domains: new Map(),
    ...layOutGraph(mlp),
    inputs: [batchOf(input, layers[0]!.inputs)],
    outputs: [batchOf(output, widthBehind(layers.at(-1)!))],
  });
}

function assertLayersFit(layers: readonly DenseLayer[]): void {
  if (layers.length === 0) throw new RangeError("a network needs at least one layer");
  layers.forEach((layer, index) => {
    const previous = layers[index - 1];
    if (previous && widthBehind(previous) !== layer.inputs)
      throw new RangeError(`layer ${index} takes ${layer.inputs} values and is given ${widthBehind(previous)}`);
    if (layer.weights.length !== layer.inputs * layer.outputs || layer.bias.length !== layer.outputs)
      throw new RangeError(`layer ${index} is ${layer.inputs}×${layer.outputs}, its arrays are not`);
  });
}

/** Number of values after a layer. */
function widthBehind({ inputs, outputs, keepsInputs = false }: DenseLayer): number {
  return keepsInputs ? inputs + outputs : outputs;
}

function layOutGraph({ name, input, output, layers }: OnnxMlp): Pick<OnnxModel, "name" | "nodes" | "weights"> {
  const last = layers.length - 1;
  const nodes = layers.flatMap((layer, index) => {
    const { activation = index === last ? "none" : "tanh" } = layer;
    const from = index === 0 ? input : `hidden${index}`;
    const to = index === last ? output : `hidden${index + 1}`;
    const own = layer.keepsInputs ? `own${index + 1}` : to;
    const sum = activation === "none" ? own : `sum${index + 1}`;
    return [
      nodeOf("Gemm", [from, `weights${index + 1}`, `bias${index + 1}`], sum, "transB"),
      ...(activation === "none" ? [] : [nodeOf(ACTIVATIONS[activation], [sum], own)]),
      ...(layer.keepsInputs ? [nodeOf("Concat", [from, own], to, "axis")] : []),
    ];
  });
  const tensors = layers.flatMap(({ inputs, outputs, weights, bias }, index) => [
    floatTensor(`weights${index + 1}`, [outputs, inputs], weights),
    floatTensor(`bias${index + 1}`, [outputs], bias),
  ]);
  return { name, nodes, weights: new Map(tensors.map((tensor) => [tensor.name, tensor])) };
}

/** A node, with an attribute of value 1: Gemm's transposed weights, or Concat's second axis. */
function nodeOf(operator: string, inputs: readonly string[], output: string, attribute?: string): OnnxNode {
  const attributes = new Map(attribute === undefined ? [] : [[attribute, { kind: "int", value: 1 } as const]]);
  return { name: "", domain: "", operator, inputs, outputs: [output], attributes };
}

/** A float32 [batch, width]. */
function batchOf(name: string, width: number): OnnxValue {
  return { name, dtype: "float32", shape: ["batch", width] };
}
