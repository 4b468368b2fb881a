import { inferShapes } from "../../onnx/infer-shapes.ts";
import { countElements, intOf, intsOf, type OnnxModel, type OnnxNode, type OnnxTensor } from "../../onnx/onnx-model.ts";
import { floatsOf, floatTensor, integersOf } from "../../onnx/tensor-values.ts";
import { type Compressed, type CompressedLayer, layerName, type LeftLayer, reportOn } from "./compression-report.ts";
import { readersOf } from "./edit-graph.ts";
import { foldBatchNorm } from "./fold-batch-norm.ts";
import { alongAxis, type LinearLayer, linearLayers } from "./linear-layers.ts";

/** End of the way of a layer's output channels. */
interface ChannelsEnd {
  /** Nodes on the way with a number or a filter for each channel: depthwise convolutions, and added biases. */
  readonly carriers: readonly OnnxNode[];
  /** Layer that reads the channels, and the number of its inputs for each channel. */
  readonly reader: OnnxNode;
  readonly inputsPerChannel: number;
}

/** Operators on each channel by itself. */
const PASSING = new Set(
  (
    "Relu LeakyRelu Clip Sigmoid Tanh Elu HardSwish HardSigmoid Identity Dropout MaxPool AveragePool" +
    " GlobalAveragePool GlobalMaxPool"
  ).split(" "),
);

/**
 * Follows the channels of a layer's output to the single layer that reads them, or returns the reason why there is
 * none.
 */
function followChannels(model: OnnxModel, layer: OnnxNode): ChannelsEnd | string {
  const shapes = inferShapes(model, 1);
  const carriers: OnnxNode[] = [];
  let [value, inputsPerChannel] = [layer.outputs[0]!, 1];
  if (layer.operator !== "Conv" && shapes.get(value)?.length !== 2) return "its channels are not the second axis";
  for (;;) {
    const node = model.nodes.find(({ inputs }) => inputs.includes(value));
    if (node === undefined || readersOf(model, value) !== 1)
      return "more than one reads its channels, or they leave the network";
    const shape = shapes.get(value);
    const flat = shape?.length === 2;
    if (node.domain !== "" || node.inputs[0] !== value || !shape) return `${node.operator} mixes its channels`;
    if (reads(node, model, flat)) return { carriers, reader: node, inputsPerChannel };
    if (flattens(node, model)) inputsPerChannel *= countElements(shape.slice(2));
    else if (inputsPerChannel === 1 && carries(node, model, flat)) carriers.push(node);
    else if (!averages(node, model, shape.length) && !passes(node, model)) return `${node.operator} mixes its channels`;
    value = node.outputs[0]!;
  }
}

/** Whether a node does the same to each channel, with at most scalar constants. */
function passes(node: OnnxNode, { weights }: OnnxModel): boolean {
  const settings = node.inputs.slice(1).filter((name) => name !== "");
  return PASSING.has(node.operator) && settings.every((name) => countElements(weights.get(name)?.dims ?? [2]) === 1);
}

function reads(node: OnnxNode, { weights }: OnnxModel, flat: boolean): boolean {
  const matrix = weights.get(node.inputs[1] ?? "");
  if (matrix?.dtype !== "float32") return false;
  if (node.operator === "Conv") return !flat && intOf(node, "group", 1) === 1;
  if (node.operator === "Gemm") return flat && intOf(node, "transA", 0) === 0;
  return node.operator === "MatMul" && flat && matrix.dims.length === 2;
}

/** Whether a node flattens a row along one axis. */
function flattens(node: OnnxNode, { weights }: OnnxModel): boolean {
  if (node.operator === "Flatten") return intOf(node, "axis", 1) === 1;
  const target = weights.get(node.inputs[1] ?? "");
  return node.operator === "Reshape" && target?.dims[0] === 2 && integersOf(target)[1] === -1;
}

/** Whether a node averages over pixels only, whose axes are the third and later ones. */
function averages(node: OnnxNode, { weights }: OnnxModel, rank: number): boolean {
  if (node.operator !== "ReduceMean") return false;
  const tensor = weights.get(node.inputs[1] ?? "");
  const axes = intsOf(node, "axes") ?? (tensor && integersOf(tensor)) ?? [];
  return axes.length > 0 && axes.every((axis) => (axis < 0 ? axis + rank : axis) >= 2);
}

function carries(node: OnnxNode, { weights }: OnnxModel, flat: boolean): boolean {
  const tensor = weights.get(node.inputs[1] ?? "");
  if (tensor?.dtype !== "float32") return false;
  if (node.operator === "Add") return flat && tensor.dims.length === 1;
  return node.operator === "Conv" && intOf(node, "group", 1) === tensor.dims[0] && tensor.dims[1] === 1;
}

/** Layer with fewer output channels. */
export interface NarrowedLayer extends CompressedLayer {
  readonly channels: number;
  readonly kept: number;
}

/**
 * The same network without some output channels of its layers, and without their weights in the reading layers. It
 * drops ⌊share · channels⌋ channels of a layer, but never all: those whose weights have the least sum of squares.
 * Unlike single zeros, this saves multiply-adds. Layers stay as they are where their channels are combined with others,
 * as in a residual sum, or leave the network.
 */
export function pruneChannels(given: OnnxModel, { share }: { readonly share: number }): Compressed<NarrowedLayer> {
  let model = foldBatchNorm(given).model;
  const found = linearLayers(model);
  const done: NarrowedLayer[] = [];
  const left: LeftLayer[] = [...found.left];
  for (const { node } of found.layers) {
    const name = { layer: layerName(node), operator: node.operator };
    // Earlier changes may have removed some of its inputs.
    const layer = linearLayers(model).layers.find((each) => each.node.outputs[0] === node.outputs[0])!;
    const end = refusal(model, layer) ?? followChannels(model, layer.node);
    const channels = layer.weights.dims[layer.outputAxis]!;
    const kept = keepLargest(layer, Math.max(1, channels - Math.floor(share * channels)));
    if (typeof end === "string" || kept.length === channels) {
      left.push({ ...name, why: typeof end === "string" ? end : "so small a share is none of its channels" });
      continue;
    }
    model = narrow(model, layer, end, kept);
    done.push({ ...name, what: `${kept.length} of ${channels} channels`, channels, kept: kept.length });
  }
  return reportOn(given, model, done, left);
}

const NARROWED = new Set(["Conv", "Gemm", "MatMul"]);

function refusal(model: OnnxModel, { node, weights }: LinearLayer): string | undefined {
  if (!NARROWED.has(node.operator)) return "only convolutions and matrices are made narrower";
  if (node.operator === "Conv" ? groupOf(node) !== 1 : weights.dims.length !== 2) return "its channels are in groups";
  const bias = node.inputs[2] ? model.weights.get(node.inputs[2]) : null;
  return bias === undefined || (bias !== null && bias.dtype !== "float32")
    ? "its bias is not float32 of the file"
    : undefined;
}

function groupOf({ attributes }: OnnxNode): number {
  const group = attributes.get("group");
  return group?.kind === "int" ? group.value : 1;
}

/** Channels with the largest weights, in their order. */
function keepLargest({ weights, outputAxis }: LinearLayer, count: number): number[] {
  const channelOf = alongAxis(weights.dims, outputAxis);
  const squares = new Float64Array(weights.dims[outputAxis]!);
  for (const [place, value] of floatsOf(weights).entries()) squares[channelOf(place)]! += value * value;
  const order = [...squares.keys()].toSorted((one, other) => squares[other]! - squares[one]! || one - other);
  return order.slice(0, count).toSorted((one, other) => one - other);
}

/** Network with only some channels of a layer; everything with a part for each channel keeps only those. */
function narrow(model: OnnxModel, layer: LinearLayer, end: ChannelsEnd, kept: readonly number[]): OnnxModel {
  const weights = new Map(model.weights);
  const nodes = new Map<OnnxNode, OnnxNode>();
  /** Narrows the tensor that a node reads; other readers keep the original. */
  const take = (node: OnnxNode, input: number, axis: number, places: readonly number[]): void => {
    const given = nodes.get(node) ?? node;
    const tensor = weights.get(given.inputs[input] ?? "");
    // A scalar applies to all channels.
    if (tensor === undefined || countElements(tensor.dims) === 1) return;
    const name = readersOf(model, tensor.name) > 1 ? `${tensor.name}/${layerName(node)}` : tensor.name;
    weights.set(name, takeAlong(tensor, axis, places, name));
    nodes.set(node, { ...given, inputs: given.inputs.with(input, name) });
  };
  take(layer.node, 1, layer.outputAxis, kept);
  take(layer.node, 2, (model.weights.get(layer.node.inputs[2] ?? "")?.dims.length ?? 1) - 1, kept);
  for (const carrier of end.carriers) {
    take(carrier, 1, 0, kept);
    take(carrier, 2, 0, kept);
    if (carrier.operator !== "Conv") continue;
    const group = { kind: "int", value: kept.length } as const;
    const given = nodes.get(carrier) ?? carrier;
    nodes.set(carrier, { ...given, attributes: new Map(given.attributes).set("group", group) });
  }
  const { inputsPerChannel: each } = end;
  const places = kept.flatMap((channel) => Array.from({ length: each }, (_, at) => channel * each + at));
  take(end.reader, 1, inputAxisOf(end.reader), places);
  return { ...model, nodes: model.nodes.map((node) => nodes.get(node) ?? node), weights };
}

function inputAxisOf(node: OnnxNode): number {
  const transposed = node.attributes.get("transB");
  if (node.operator === "Conv") return 1;
  return transposed?.kind === "int" && transposed.value !== 0 ? 1 : 0;
}

/** Tensor with only some indices of an axis. */
function takeAlong(tensor: OnnxTensor, axis: number, places: readonly number[], name: string): OnnxTensor {
  const { dims } = tensor;
  const placeOf = alongAxis(dims, axis);
  const wanted = new Set(places);
  return floatTensor(
    name,
    dims.with(axis, places.length),
    floatsOf(tensor).filter((_, at) => wanted.has(placeOf(at))),
  );
}
