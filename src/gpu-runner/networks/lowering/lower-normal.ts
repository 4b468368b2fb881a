import { countElements, floatOf, intOf, intsOf, type OnnxNode } from "../../../onnx/onnx-model.ts";
import { emitMap, emitScaled } from "./lower-elementwise.ts";
import { along } from "./lower-movement.ts";
import { linesOf } from "./lower-pool.ts";
import type { Lowering } from "./lowering.ts";
import { type Activation, type NetworkValue, unsupported, scalar } from "./network-value.ts";

/** Kinds of kernels/network/normalise.wgsl. */
const WHICH = { variance: 0, meanSquare: 1, length1: 2, length2: 3, deviation: 4 } as const;

/** `LayerNormalization` and `RMSNormalization` over the last axes. */
export function lowerLayerNorm(lowering: Lowering, node: OnnxNode): void {
  const input = lowering.activationOf(node, 0);
  const axis = along(intOf(node, "axis", -1), input);
  const axes = input.shape.flatMap((_, at) => (at < axis ? [] : [at]));
  const which = node.operator === "RMSNormalization" ? WHICH.meanSquare : WHICH.variance;
  const [scale, bias] = [1, 2].map((at) => (node.inputs[at] ? lowering.valueOf(node, at) : undefined));
  const size = countElements(input.shape.slice(axis));
  const isWhole = (value: NetworkValue | undefined) => value?.kind === "constant" && value.floats.length === size;
  // Constants by place in a line are applied on the way.
  if (isWhole(scale) && (bias === undefined || isWhole(bias))) {
    const offsetOf = (value: NetworkValue | undefined) =>
      value?.kind === "constant" ? lowering.weights.putFloats(value.floats) : -1;
    emitLines(lowering, node, input, { axes, which, weights: offsetOf(scale), bias: offsetOf(bias) });
  } else {
    const between = lowering.reserve(node);
    emitLines(lowering, node, input, { axes, which }, between);
    emitScaled(lowering, node, between, scale, bias);
  }
  if (node.outputs[1] || node.outputs[2]) emitStatistics(lowering, node, input, axes);
}

/** Further outputs of `LayerNormalization`: the mean, and one over the deviation. */
function emitStatistics(lowering: Lowering, node: OnnxNode, input: Activation, axes: readonly number[]): void {
  const named = (name: string) => ({ ...node, outputs: [name] });
  const shape = input.shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
  const words = countElements(shape);
  const place = (): Activation => ({ ...input, shape, region: { words }, offset: 0 });
  const lines = linesOf(node, input, axes);
  const work = countElements(input.shape);
  const mean = place();
  lowering.emit(
    named(node.outputs[1] || " mean"),
    { kind: "reduce", numbers: { ...lines, which: 0 }, input, work },
    mean,
  );
  if (!node.outputs[2]) return;
  const apart: Activation = { ...input, region: { words: work }, offset: 0 };
  emitMap(lowering, named(" apart"), input, { which: 2 }, mean, apart);
  const squares = place();
  const reduced = { kind: "reduceSeldom", numbers: { ...lines, which: 10 }, input: apart, work } as const;
  lowering.emit(named(" squares"), reduced, squares);
  const [variance, result] = [place(), place()];
  emitMap(lowering, named(" variance"), squares, { which: 3 }, scalar(shape.length === 0 ? 1 : words / work), variance);
  const deviation = place();
  emitMap(
    lowering,
    named(" deviation"),
    variance,
    { which: 1, activation: 7 },
    scalar(floatOf(node, "epsilon", 1e-5)),
    deviation,
  );
  emitMap(lowering, named(node.outputs[2]), deviation, { which: 0, activation: 15 }, undefined, result);
}

/** `InstanceNormalization` over the pixels of each channel, and `GroupNormalization` over those of some channels. */
export function lowerChannelNorm(lowering: Lowering, node: OnnxNode): void {
  const input = lowering.activationOf(node, 0);
  const channels = input.shape[1]!;
  const groups = node.operator === "GroupNormalization" ? intOf(node, "num_groups", 1) : channels;
  const size = channels / groups;
  const shape = [input.shape[0]!, groups, size, ...input.shape.slice(2)];
  const parted: Activation = { ...input, shape };
  const axes = shape.flatMap((_, axis) => (axis < 2 ? [] : [axis]));
  const between = lowering.reserve(node);
  emitLines(lowering, node, parted, { axes, which: WHICH.variance }, between);
  const [scale, bias] = [1, 2].map((at) =>
    spreadOver(lowering.valueOf(node, at), channels, input.shape.length - 2, node),
  );
  emitScaled(lowering, node, between, scale, bias);
}

/** Numbers by channel, or by group as GroupNormalization has them before opset 21, as an operand of pictures. */
function spreadOver(value: NetworkValue, channels: number, inner: number, node: OnnxNode): NetworkValue {
  const shape = [channels, ...Array.from({ length: inner }, () => 1)];
  const count = countElements(value.shape);
  if (count === channels) return { ...value, shape };
  if (value.kind === "activation") throw unsupported(node, "its scales by group are computed");
  const floats = Float32Array.from({ length: channels }, (_, at) => value.floats[Math.floor((at * count) / channels)]!);
  return { kind: "constant", shape, floats };
}

/** `LpNormalization` along an axis and `MeanVarianceNormalization` over some. */
export function lowerPlainNorm(lowering: Lowering, node: OnnxNode): void {
  const input = lowering.activationOf(node, 0);
  if (node.operator === "LpNormalization") {
    const which = intOf(node, "p", 2) === 1 ? WHICH.length1 : WHICH.length2;
    emitLines(lowering, node, input, { axes: [along(intOf(node, "axis", -1), input)], which });
    return;
  }
  const axes = (intsOf(node, "axes") ?? [0, 2, 3]).map((axis) => along(axis, input));
  emitLines(lowering, node, input, { axes, which: WHICH.deviation, step: 1e-9 });
}

interface Lines {
  readonly axes: readonly number[];
  readonly which: number;
  readonly step?: number;
  readonly weights?: number;
  readonly bias?: number;
}

function emitLines(
  lowering: Lowering,
  node: OnnxNode,
  input: Activation,
  { axes, which, step = floatOf(node, "epsilon", 1e-5), weights = -1, bias = -1 }: Lines,
  output = lowering.reserve(node),
): void {
  if (axes.includes(input.rowAxis)) throw unsupported(node, "it mixes rows");
  const numbers = { ...linesOf(node, input, axes), which, step, weights, bias };
  lowering.emit(node, { kind: "normalise", numbers, input, work: 3 * countElements(input.shape) }, output);
}
