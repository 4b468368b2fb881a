import { inferShapes } from "../../onnx/infer-shapes.ts";
import { intOf, intsOf } from "../../onnx/read-option.ts";
import { countElements, type OnnxModel, type OnnxNode } from "../../onnx/onnx-model.ts";
import { integersOf } from "../../onnx/tensor-values.ts";
import { readersOf } from "./readers-of.ts";

/** Where the output channels of a layer end up. */
export interface ChannelsEnd {
  /** What has a number or a filter for each channel on the way: convolutions by channel, and biases that are added. */
  readonly carriers: readonly OnnxNode[];
  /** The layer that reads them, and how many of its inputs come of each channel. */
  readonly reader: OnnxNode;
  readonly inputsPerChannel: number;
}

/** Each channel by itself. */
const PASSING = new Set(
  (
    "Relu LeakyRelu Clip Sigmoid Tanh Elu HardSwish HardSigmoid Identity Dropout MaxPool AveragePool" +
    " GlobalAveragePool GlobalMaxPool"
  ).split(" "),
);

/** Follows the channels of a layer's output to the one layer that reads them, or says why that is not so. */
export function followChannels(model: OnnxModel, layer: OnnxNode): ChannelsEnd | string {
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

/** Does the same to each channel, with single numbers of the file at most. */
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

/** Has all numbers of a row along one axis, whatever they are. */
function flattens(node: OnnxNode, { weights }: OnnxModel): boolean {
  if (node.operator === "Flatten") return intOf(node, "axis", 1) === 1;
  const target = weights.get(node.inputs[1] ?? "");
  return node.operator === "Reshape" && target?.dims[0] === 2 && integersOf(target)[1] === -1;
}

/** Over places only, whose axes are the third and those behind it. */
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
