import { countElements, type OnnxModel, type OnnxNode, type OnnxTensor } from "../../onnx/onnx-model.ts";
import { floatsOf, floatTensor } from "../../onnx/tensor-values.ts";
import { alongAxis } from "./along-axis.ts";
import { type Compressed, type CompressedLayer, layerName, type LeftLayer, reportOn } from "./compression-report.ts";
import { type ChannelsEnd, followChannels } from "./follow-channels.ts";
import { foldBatchNorm } from "./fold-batch-norm.ts";
import { type LinearLayer, linearLayers } from "./linear-layers.ts";
import { readersOf } from "./readers-of.ts";

/** A layer that has fewer output channels. */
export interface NarrowedLayer extends CompressedLayer {
  readonly channels: number;
  readonly kept: number;
}

/**
 * The same network with whole output channels of its layers gone, and with them what read them: of a layer's channels
 * ⌊share · channels⌋, those whose weights have the least sum of squares, but never all. Unlike single zeros it takes
 * multiply-adds away. Layers whose channels meet others, by a sum past them, say, or leave the network stay as they are.
 */
export function pruneChannels(given: OnnxModel, { share }: { readonly share: number }): Compressed<NarrowedLayer> {
  let model = foldBatchNorm(given).model;
  const found = linearLayers(model);
  const done: NarrowedLayer[] = [];
  const left: LeftLayer[] = [...found.left];
  for (const { node } of found.layers) {
    const name = { layer: layerName(node), operator: node.operator };
    // What came before may have taken inputs of it away.
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

/** The channels with the largest weights, in their order. */
function keepLargest({ weights, outputAxis }: LinearLayer, count: number): number[] {
  const channelOf = alongAxis(weights.dims, outputAxis);
  const squares = new Float64Array(weights.dims[outputAxis]!);
  for (const [place, value] of floatsOf(weights).entries()) squares[channelOf(place)]! += value * value;
  const order = [...squares.keys()].toSorted((one, other) => squares[other]! - squares[one]! || one - other);
  return order.slice(0, count).toSorted((one, other) => one - other);
}

/** The network with only some channels of a layer; all that has a part for each channel keeps only those. */
function narrow(model: OnnxModel, layer: LinearLayer, end: ChannelsEnd, kept: readonly number[]): OnnxModel {
  const weights = new Map(model.weights);
  const nodes = new Map<OnnxNode, OnnxNode>();
  /** Narrows the tensor that a node reads; one that others read too is kept for them. */
  const take = (node: OnnxNode, input: number, axis: number, places: readonly number[]): void => {
    const given = nodes.get(node) ?? node;
    const tensor = weights.get(given.inputs[input] ?? "");
    // A single number counts for all channels.
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

/** A tensor with only some places of an axis. */
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
