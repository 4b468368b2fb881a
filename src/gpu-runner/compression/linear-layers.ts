import { countElements, intOf, type OnnxModel, type OnnxNode, type OnnxTensor } from "../../onnx/onnx-model.ts";
import { integerTensor } from "../../onnx/tensor-values.ts";
import { layerName, type LeftLayer } from "./compression-report.ts";
import { makeNode, type StoredWeight } from "./edit-graph.ts";

/** Maps an element's index in a tensor, row by row, to its index along one axis. */
export function alongAxis(dims: readonly number[], axis: number): (place: number) => number {
  const inner = countElements(dims.slice(axis + 1));
  return (place) => Math.floor(place / inner) % dims[axis]!;
}

/** Largest magnitude at each index of an axis. */
export function absmaxAlong(values: Float32Array, dims: readonly number[], axis: number): Float32Array {
  const placeOf = alongAxis(dims, axis);
  const largest = new Float32Array(dims[axis]!);
  for (const [place, value] of values.entries()) {
    const at = placeOf(place);
    largest[at] = Math.max(largest[at]!, Math.abs(value));
  }
  return largest;
}

/** Matrix or filters of a node's multiplication. */
export interface LinearLayer {
  readonly node: OnnxNode;
  readonly weights: OnnxTensor;
  /** Axis of the weights with an index for each output channel. */
  readonly outputAxis: number;
}

/** Inputs of a node that may be such weights, and the axis of their output channels. */
const OPERATORS: Readonly<
  Record<string, { inputs: readonly number[]; axis: (node: OnnxNode, rank: number) => number }>
> = {
  Conv: { inputs: [1], axis: () => 0 },
  ConvTranspose: { inputs: [1], axis: () => 1 },
  Gemm: { inputs: [1], axis: (node) => (intOf(node, "transB", 0) === 0 ? 1 : 0) },
  MatMul: { inputs: [1], axis: (_, rank) => rank - 1 },
  // [directions, gates × hidden, …], for the input and for the state.
  GRU: { inputs: [1, 2], axis: () => 1 },
  LSTM: { inputs: [1, 2], axis: () => 1 },
  RNN: { inputs: [1, 2], axis: () => 1 },
};

/** Layers of a network that multiply by float32 weights of at least two axes, and those with other weights. */
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
 * Whether a node must separate a DequantizeLinear from the layer that reads it, even where the shape is right, where only
 * the weights are to be rounded. Without it, the runner and ONNX Runtime compute the product in whole numbers, for which
 * they also round the activations.
 */
export function needsShape({ node }: LinearLayer): boolean {
  return node.operator === "MatMul" || node.operator === "Gemm";
}

/** Stored weight, followed by a Reshape to its own shape. */
export function shapeWeight(
  { tensors, nodes }: StoredWeight,
  { name, dims }: OnnxTensor,
  free: (wished: string) => string,
): StoredWeight {
  const shape = integerTensor(free(`${name}_shape`), dims);
  const reshape = makeNode("Reshape", [nodes.at(-1)!.outputs[0]!, shape.name], free(`${name}_shaped`));
  return { tensors: [...tensors, shape], nodes: [...nodes, reshape] };
}
