import { intOf } from "../../onnx/read-option.ts";
import type { OnnxModel, OnnxNode, OnnxTensor } from "../../onnx/onnx-model.ts";
import { layerName, type LeftLayer } from "./compression-report.ts";

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
