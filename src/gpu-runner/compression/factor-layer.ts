import { intOf } from "../../onnx/read-option.ts";
import { countElements, type OnnxNode, type OnnxTensor } from "../../onnx/onnx-model.ts";
import { floatsOf, floatTensor } from "../../onnx/tensor-values.ts";
import { layerName } from "./compression-report.ts";
import type { LinearLayer } from "./linear-layers.ts";
import { makeNode } from "./make-node.ts";
import type { SingularValues } from "./singular-value-decomposition.ts";

/** A layer's weights as a matrix of output channels × inputs, row by row. */
export function matrixOf({ weights, outputAxis }: LinearLayer): {
  values: Float32Array;
  outputs: number;
  inputs: number;
} {
  const outputs = weights.dims[outputAxis]!;
  const inputs = countElements(weights.dims) / outputs;
  const values = floatsOf(weights);
  return { values: outputAxis === 0 ? values : transpose(values, inputs, outputs), outputs, inputs };
}

/** The two layers of lower rank: first the inputs to `rank` values (√S Vᵀ), then these to the outputs (U √S). */
export function factorLayer(
  { node, weights, outputAxis }: LinearLayer,
  singular: SingularValues,
  rank: number,
  free: (wished: string) => string,
): { tensors: OnnxTensor[]; nodes: OnnxNode[] } {
  const outputs = weights.dims[outputAxis]!;
  const inputs = countElements(weights.dims) / outputs;
  const inner = scaledRows(singular.right, singular.values, rank);
  const outer = transpose(scaledRows(singular.left, singular.values, rank), rank, outputs);
  const middle = free(`${node.outputs[0]!}_rank${rank}`);
  const name = (part: string) => free(`${weights.name}_${part}`);
  if (node.operator === "Conv") {
    const kernel = weights.dims.slice(2);
    const first = floatTensor(name("inner"), [rank, ...weights.dims.slice(1)], inner);
    const second = floatTensor(name("outer"), [outputs, rank, ...kernel.map(() => 1)], outer);
    const [, , ...bias] = node.inputs;
    const filter = { ...node, inputs: [node.inputs[0]!, first.name], outputs: [middle] };
    const mix = makeNode("Conv", [middle, second.name, ...bias], node.outputs[0]!);
    return { tensors: [first, second], nodes: [filter, mix] };
  }
  // [rank, inputs] and [outputs, rank] here; a MatMul and an untransposed Gemm have the inputs first.
  const flip = outputAxis === 1;
  const first = floatTensor(name("inner"), [inputs, rank], transpose(inner, rank, inputs));
  const second = flip
    ? floatTensor(name("outer"), [rank, outputs], transpose(outer, outputs, rank))
    : floatTensor(name("outer"), [outputs, rank], outer);
  const [input, , ...rest] = node.inputs;
  const transposed = node.operator === "Gemm" && intOf(node, "transA", 0) !== 0;
  const narrow = transposed
    ? makeNode("Gemm", [input!, first.name], middle, { transA: { kind: "int", value: 1 } })
    : makeNode("MatMul", [input!, first.name], middle);
  const attributes = new Map([...node.attributes].filter(([key]) => key !== "transA"));
  const widen = { ...node, inputs: [middle, second.name, ...rest], attributes, name: `${layerName(node)}_outer` };
  return { tensors: [first, second], nodes: [{ ...narrow, name: `${layerName(node)}_inner` }, widen] };
}

/** The first `rank` vectors as rows, each by the root of its singular value. */
function scaledRows(vectors: readonly Float64Array[], values: Float64Array, rank: number): Float32Array {
  const length = vectors[0]!.length;
  const rows = new Float32Array(rank * length);
  for (let row = 0; row < rank; row++) {
    const root = Math.sqrt(values[row]!);
    rows.set(
      vectors[row]!.map((value) => value * root),
      row * length,
    );
  }
  return rows;
}

function transpose(values: Float32Array, rows: number, columns: number): Float32Array {
  return Float32Array.from(values, (_, place) => values[(place % rows) * columns + Math.floor(place / rows)]!);
}
