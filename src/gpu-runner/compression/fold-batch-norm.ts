import { floatOf, intOf, type OnnxModel, type OnnxNode, type OnnxTensor } from "../../onnx/onnx-model.ts";
import { floatsOf, floatTensor } from "../../onnx/tensor-values.ts";
import { alongAxis } from "./linear-layers.ts";
import { type Compressed, type CompressedLayer, layerName, type LeftLayer, reportOn } from "./compression-report.ts";
import { dropUnusedWeights, freeNames, hoistConstants, readersOf } from "./edit-graph.ts";

/** ONNX's default for a BatchNormalization without epsilon. */
const EPSILON = 1e-5;

/** Layer and the batch norm after it: y = (W·x + b) · factor + shift, by channel. */
interface Pair {
  readonly layer: OnnxNode;
  readonly norm: OnnxNode;
  readonly weights: OnnxTensor;
  readonly outputAxis: number;
  readonly factors: Float64Array;
  /** New bias of a channel from the given one. */
  readonly biasOf: (channel: number, bias: number) => number;
}

/**
 * The same network with each BatchNormalization folded into the convolution or Gemm before it, where that one's output
 * has no other reader. Computed in float64 and rounded once.
 */
export function foldBatchNorm(given: OnnxModel): Compressed {
  const model = hoistConstants(given);
  const free = freeNames(model);
  const weights = new Map(model.weights);
  const replaced = new Map<OnnxNode, OnnxNode | null>();
  const done: CompressedLayer[] = [];
  const left: LeftLayer[] = [];
  for (const norm of model.nodes.filter(({ operator, domain }) => operator === "BatchNormalization" && domain === "")) {
    const pair = findPair(model, norm);
    const name = { layer: layerName(norm), operator: norm.operator };
    if (typeof pair === "string") {
      left.push({ ...name, why: pair });
      continue;
    }
    const { layer } = pair;
    const [matrix, bias] = foldPair(model, pair, free);
    weights.set(matrix.name, matrix).set(bias.name, bias);
    const inputs = [layer.inputs[0]!, matrix.name, bias.name];
    const attributes = new Map([...layer.attributes].filter(([key]) => key !== "beta"));
    replaced.set(layer, { ...layer, inputs, outputs: norm.outputs.slice(0, 1), attributes }).set(norm, null);
    done.push({ ...name, what: `folded into ${layerName(layer)}` });
  }
  const nodes = model.nodes
    .map((node) => (replaced.has(node) ? replaced.get(node)! : node))
    .filter((node) => node !== null);
  return reportOn(given, dropUnusedWeights({ ...model, nodes, weights }), done, left);
}

/** Layer whose output a batch norm scales, or the reason why the two cannot be folded. */
function findPair(model: OnnxModel, norm: OnnxNode): Pair | string {
  const numbers = norm.inputs.slice(1).map((name) => model.weights.get(name));
  const [scale, shift, mean, variance] = numbers.map((tensor) => tensor?.dtype === "float32" && floatsOf(tensor));
  if (!scale || !shift || !mean || !variance) return "its numbers are not float32 of the file";
  if (intOf(norm, "training_mode", 0) !== 0) return "it is in training";
  const layer = model.nodes.find(({ outputs }) => outputs[0] === norm.inputs[0]);
  const outputAxis = layer && outputAxisOf(layer);
  if (layer === undefined || outputAxis === undefined) return "no convolution or Gemm is before it";
  if (readersOf(model, layer.outputs[0]!) > 1) return "its input has other readers";
  const weights = model.weights.get(layer.inputs[1]!);
  const bias = layer.inputs[2] ? model.weights.get(layer.inputs[2]) : null;
  if (weights?.dtype !== "float32" || bias === undefined) return "the weights before it are not float32 of the file";
  if (bias && bias.dims.length > 2) return "the bias before it is not one by channel";
  if (bias?.dims.length === 2 && bias.dims[0] !== 1) return "the bias before it is not one by channel";
  const epsilon = floatOf(norm, "epsilon", EPSILON);
  const factors = Float64Array.from(scale, (each, channel) => each / Math.sqrt(variance[channel]! + epsilon));
  const biasOf = (channel: number, old: number) => (old - mean[channel]!) * factors[channel]! + shift[channel]!;
  return { layer, norm, weights, outputAxis, factors, biasOf };
}

/** A transposed convolution has its channels in the order of its weights only with one group. */
function outputAxisOf(node: OnnxNode): number | undefined {
  if (node.domain !== "") return undefined;
  if (node.operator === "Conv") return 0;
  if (node.operator === "ConvTranspose" && intOf(node, "group", 1) === 1) return 1;
  if (node.operator === "Gemm") return intOf(node, "transB", 0) === 0 ? 1 : 0;
  return undefined;
}

/** Weights and bias of both together. */
function foldPair(model: OnnxModel, pair: Pair, free: (wished: string) => string): [OnnxTensor, OnnxTensor] {
  const { layer, weights, outputAxis, factors, biasOf } = pair;
  const channelOf = alongAxis(weights.dims, outputAxis);
  const matrix = floatsOf(weights).map((value, place) => value * factors[channelOf(place)]!);
  const given = layer.inputs[2] ? floatsOf(model.weights.get(layer.inputs[2])!) : Float32Array.of(0);
  const times = layer.operator === "Gemm" ? floatOf(layer, "beta", 1) : 1;
  // A Gemm may have a single number for all channels.
  const bias = Float32Array.from(factors, (_, channel) =>
    biasOf(channel, given[given.length === 1 ? 0 : channel]! * times),
  );
  return [
    floatTensor(free(`${weights.name}_folded`), weights.dims, matrix),
    floatTensor(free(`${layerName(layer)}_bias_folded`), [bias.length], bias),
  ];
}
