import { countElements, intOf, type OnnxModel, type OnnxNode, type OnnxTensor } from "../../onnx/onnx-model.ts";
import { floatsOf, floatTensor } from "../../onnx/tensor-values.ts";
import { type Compressed, type CompressedLayer, layerName, type LeftLayer, reportOn } from "./compression-report.ts";
import { dropUnusedWeights, freeNames, makeNode } from "./edit-graph.ts";
import { foldBatchNorm } from "./fold-batch-norm.ts";
import { type LinearLayer, linearLayers } from "./linear-layers.ts";
import { decompose, type SingularValues } from "./singular-value-decomposition.ts";

/** Weights of a layer as a matrix of output channels × inputs, row by row. */
function matrixOf({ weights, outputAxis }: LinearLayer): {
  values: Float32Array;
  outputs: number;
  inputs: number;
} {
  const outputs = weights.dims[outputAxis]!;
  const inputs = countElements(weights.dims) / outputs;
  const values = floatsOf(weights);
  return { values: outputAxis === 0 ? values : transpose(values, inputs, outputs), outputs, inputs };
}

/** Two layers of lower rank: inputs to `rank` values (√S Vᵀ), then these to the outputs (U √S). */
function factorLayer(
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

/** First `rank` vectors as rows, each scaled by the root of its singular value. */
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

/** Rank of a layer: the least that keeps a share of its squared singular values, or a given one. */
export type RankRule = { readonly energy: number } | { readonly rank: number };

/** Layer that was replaced with two. */
export interface FactorisedLayer extends CompressedLayer {
  readonly rank: number;
  /** Largest possible rank of the weights. */
  readonly fullRank: number;
  /** Share of the squared singular values that is kept, 0 to 1. */
  readonly energy: number;
  /**
   * Frobenius error of the weights as a matrix of output channels × inputs: root of the sum of the dropped squared
   * values.
   */
  readonly frobeniusError: number;
}

/** Layer that can be factorised, its decomposition, and the rank from which it would grow. */
export interface Decomposed {
  readonly layer: LinearLayer;
  readonly singular: SingularValues;
  readonly ranksBelow: number;
}

/** Limit of m·n²: a matrix of 800 × 800, which takes about a minute. */
const MAX_DECOMPOSITION = 2 ** 29;
const FACTORED = new Set(["Conv", "Gemm", "MatMul"]);

/**
 * The same network with layers W as two of lower rank, W ≈ (U √S)·(√S Vᵀ): a matrix as two, and a convolution as one
 * with `rank` filters followed by one of 1 × 1. Only where that has fewer weights, and so fewer multiply-adds: rank <
 * m·n / (m + n). Batch norms are folded first.
 */
export function factorise(given: OnnxModel, rule: RankRule): Compressed<FactorisedLayer> {
  return truncate(given, decomposeLayers(given), rule);
}

/** Network with folded batch norms and the decompositions of its layers: the slow part, common to all ranks. */
export interface DecomposedModel {
  readonly model: OnnxModel;
  readonly layers: readonly Decomposed[];
  readonly left: readonly LeftLayer[];
}

export function decomposeLayers(given: OnnxModel): DecomposedModel {
  const model = foldBatchNorm(given).model;
  const found = linearLayers(model);
  const layers: Decomposed[] = [];
  const left: LeftLayer[] = [...found.left];
  for (const layer of found.layers) {
    const why = refusal(layer);
    if (why !== undefined) {
      left.push({ layer: layerName(layer.node), operator: layer.node.operator, why });
      continue;
    }
    const { values, outputs: m, inputs: n } = matrixOf(layer);
    layers.push({ layer, singular: decompose(values, m, n), ranksBelow: (m * n) / (m + n) });
  }
  return { model, layers, left };
}

function refusal({ node, weights: { dims } }: LinearLayer): string | undefined {
  if (!FACTORED.has(node.operator)) return "only convolutions and matrices are factorised";
  if (intOf(node, "group", 1) !== 1) return "its channels are in groups";
  if (node.operator !== "Conv" && dims.length !== 2) return "its weights are not one matrix";
  const [m, n] = [dims[0]!, countElements(dims.slice(1))];
  if (m * n * Math.min(m, n) > MAX_DECOMPOSITION) return "it is too large to be decomposed here";
  return Math.min(m, n) < 2 ? "its rank is 1 already" : undefined;
}

/** Network with each layer at the rank of a rule. */
export function truncate(
  given: OnnxModel,
  { model, layers, left: before }: DecomposedModel,
  rule: RankRule,
): Compressed<FactorisedLayer> {
  const free = freeNames(model);
  const weights = new Map(model.weights);
  const replaced = new Map<OnnxNode, readonly OnnxNode[]>();
  const done: FactorisedLayer[] = [];
  const left: LeftLayer[] = [...before];
  for (const { layer, singular, ranksBelow } of layers) {
    const name = { layer: layerName(layer.node), operator: layer.node.operator };
    const rank = rankBy(rule, singular.values);
    if (rank >= ranksBelow) {
      left.push({
        ...name,
        why: `rank ${rank} would take more weights: it is worth it below ${ranksBelow.toFixed(1)}`,
      });
      continue;
    }
    const factors = factorLayer(layer, singular, rank, free);
    for (const tensor of factors.tensors) weights.set(tensor.name, tensor);
    replaced.set(layer.node, factors.nodes);
    const fullRank = singular.values.length;
    const measures = { rank, fullRank, energy: keptEnergy(singular.values, rank) };
    const frobeniusError = Math.sqrt(sumOfSquares(singular.values.subarray(rank)));
    done.push({ ...name, what: `rank ${rank} of ${fullRank}`, ...measures, frobeniusError });
  }
  const nodes = model.nodes.flatMap((node) => replaced.get(node) ?? [node]);
  return reportOn(given, dropUnusedWeights({ ...model, nodes, weights }), done, left);
}

/** At least 1, and at most the full rank. */
function rankBy(rule: RankRule, values: Float64Array): number {
  if ("rank" in rule) return Math.min(rule.rank, values.length);
  for (let rank = 1; rank < values.length; rank++) if (keptEnergy(values, rank) >= rule.energy) return rank;
  return values.length;
}

function keptEnergy(values: Float64Array, rank: number): number {
  const all = sumOfSquares(values);
  return all > 0 ? sumOfSquares(values.subarray(0, rank)) / all : 1;
}

function sumOfSquares(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value * value, 0);
}
