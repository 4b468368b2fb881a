import { countElements, intOf, type OnnxModel, type OnnxNode, type OnnxTensor } from "../../onnx/onnx-model.ts";
import { integerTensor } from "../../onnx/tensor-values.ts";
import { layerName, type LeftLayer } from "./compression-report.ts";
import { makeNode, type StoredWeight } from "./edit-graph.ts";

/** Tells for an element's place in a tensor, row by row, its place along one axis. */
export function alongAxis(dims: readonly number[], axis: number): (place: number) => number {
  const inner = countElements(dims.slice(axis + 1));
  return (place) => Math.floor(place / inner) % dims[axis]!;
}

/** The largest magnitude at each place of an axis. */
export function absmaxAlong(values: Float32Array, dims: readonly number[], axis: number): Float32Array {
  const placeOf = alongAxis(dims, axis);
  const largest = new Float32Array(dims[axis]!);
  for (const [place, value] of values.entries()) {
    const at = placeOf(place);
    largest[at] = Math.max(largest[at]!, Math.abs(value));
  }
  return largest;
}

/** A matrix or filters that a node multiplies its input with. */
export interface LinearLayer {
  readonly node: OnnxNode;
  readonly weights: OnnxTensor;
  /** Which axis of the weights has a place for each output channel. */
  readonly outputAxis: number;
}

/** Which inputs of a node may be such weights, and where their output channels lie. */
const OPERATORS: Readonly<
  Record<string, { inputs: readonly number[]; axis: (node: OnnxNode, rank: number) => number }>
> = {
  Conv: { inputs: [1], axis: () => 0 },
  ConvTranspose: { inputs: [1], axis: () => 1 },
  Gemm: { inputs: [1], axis: (node) => (intOf(node, "transB", 0) === 0 ? 1 : 0) },
  MatMul: { inputs: [1], axis: (_, rank) => rank - 1 },
  // [directions, gates × hidden, …], of the input and of the state.
  GRU: { inputs: [1, 2], axis: () => 1 },
  LSTM: { inputs: [1, 2], axis: () => 1 },
  RNN: { inputs: [1, 2], axis: () => 1 },
};

/** The layers of a network that multiply with float32 weights of at least two axes, and those whose weights are not such. */
export function linearLayers({ nodes, weights }: OnnxModel): { layers: LinearLayer[]; left: LeftLayer[] } {
  const layers: LinearLayer[] = [];
  const left: LeftLayer[] = [];
  for (const node of nodes) {
    const rule = node.domain === "" ? OPERATORS[node.operator] : undefined;
    for (const input of rule?.inputs ?? []) {
      const tensor = weights.get(node.inputs[input]!);
      const leave = (why: string) => left.push({ layer: layerName(node), operator: node.operator, why });
      if (tensor === undefined) leave("its weights are computed, or an input");
      else if (tensor.dtype !== "float32") leave(`its weights are ${tensor.dtype} already`);
      else if (tensor.dims.length < 2) leave("its weights are a vector");
      else layers.push({ node, weights: tensor, outputAxis: rule!.axis(node, tensor.dims.length) });
    }
  }
  return { layers, left };
}

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
