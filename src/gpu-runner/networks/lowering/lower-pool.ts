import { countElements, intOf, intsOf, type OnnxNode } from "../../../onnx/onnx-model.ts";
import { windowsOf } from "../../../onnx/shape-rule.ts";
import { pictures } from "./lower-convolution.ts";
import type { Lowering } from "./lowering.ts";
import { type Activation, unsupported } from "./network-value.ts";
import { type OpNumbers, stridesOf, type WalkedAxis, writeWalk } from "./network-op.ts";

/** Reductions in kernels/network/reduce.wgsl. */
const WHICH = { mean: 0, sum: 1, largest: 2, smallest: 3, norm: 4, paddedMean: 5 } as const;
const REDUCTIONS: Readonly<Record<string, number>> = {
  ReduceMean: WHICH.mean,
  ReduceSum: WHICH.sum,
  ReduceMax: WHICH.largest,
  ReduceMin: WHICH.smallest,
  ReduceL2: WHICH.norm,
  GlobalAveragePool: WHICH.mean,
  GlobalMaxPool: WHICH.largest,
  ReduceLogSum: WHICH.sum,
  ReduceProd: 8,
  ReduceL1: 9,
  ReduceSumSquare: 10,
  ReduceLogSumExp: 11,
  ArgMax: 12,
  ArgMin: 13,
};
/** First reduction that kernels/network/seldom.wgsl computes. */
const FIRST_SELDOM = 8;
/** Activation in kernels/network/finish.wgsl. */
const LOG = 9;

/** `MaxPool` and `AveragePool`. */
export function lowerPool(lowering: Lowering, node: OnnxNode): void {
  const input = lowering.activationOf(node, 0);
  if (node.outputs.length > 1) throw unsupported(node, "it returns the indices of the largest elements");
  const output = lowering.reserve(node);
  const geometry = pictures(node, input.shape, output.shape, windowsOf(node, input.shape.slice(2)));
  const isMax = node.operator === "MaxPool";
  const isPadded = !isMax && intOf(node, "count_include_pad", 0) !== 0;
  // Windows that extend beyond the padding average over the elements inside, not over the whole kernel.
  if (isPadded && intOf(node, "ceil_mode", 0) !== 0) throw unsupported(node, "it counts padding and rounds up");
  const which = isMax ? WHICH.largest : isPadded ? WHICH.paddedMean : WHICH.mean;
  const items = countElements(output.shape);
  const work = items * geometry["kernelHeight"]! * geometry["kernelWidth"]!;
  // The maximum of numbers on a grid is on that grid.
  const kept = isMax && input.grid !== undefined ? { ...output, grid: input.grid } : output;
  lowering.emit(node, { kind: "pool", numbers: { ...geometry, which, items }, input, work }, kept);
}

/** Means, sums and similar reductions over axes, pools over whole images, and places of extremes along an axis. */
export function lowerReduction(lowering: Lowering, node: OnnxNode): void {
  const input = lowering.activationOf(node, 0);
  const axes = reducedAxes(lowering, node, input);
  if (axes === null) {
    lowering.view(node, input);
    return;
  }
  if (axes.includes(input.rowAxis)) throw unsupported(node, "it mixes rows");
  const output = lowering.reserve(node);
  const which = REDUCTIONS[node.operator]!;
  const numbers = {
    ...linesOf(node, input, axes),
    which,
    rows: intOf(node, "select_last_index", 0),
    ...(node.operator === "ReduceLogSum" && { activation: LOG }),
  };
  const kind = which < FIRST_SELDOM ? "reduce" : "reduceSeldom";
  lowering.emit(node, { kind, numbers, input, work: countElements(input.shape) }, output);
}

/** Axes that a node reduces; null where it keeps its input. */
function reducedAxes(lowering: Lowering, node: OnnxNode, { shape }: Activation): number[] | null {
  const fromEnd = (axis: number) => (axis < 0 ? axis + shape.length : axis);
  if (node.operator.startsWith("Global")) return shape.flatMap((_, axis) => (axis < 2 ? [] : [axis]));
  if (node.operator.startsWith("Arg")) return [fromEnd(intOf(node, "axis", 0))];
  const named = intsOf(node, "axes") ?? lowering.optionalConstant(node, 1)?.floats ?? [];
  if (named.length > 0) return Array.from(named, fromEnd);
  return intOf(node, "noop_with_empty_axes", 0) === 0 ? [...shape.keys()] : null;
}

/** Walk over lines along these axes: the first three axes of an index are the line's, the others lead along it. */
export function linesOf(node: OnnxNode, input: Activation, gone: readonly number[]): OpNumbers {
  const axes = axesOf(input);
  const kept = joinAxes(axes.filter((_, axis) => !gone.includes(axis)));
  const walked = joinAxes(axes.filter((_, axis) => gone.includes(axis)));
  const items = kept.reduce((product, { size }) => product * size, 1);
  const walk = writeWalk([...padAxes(node, kept), ...padAxes(node, walked)]);
  return { ...walk, rank: Math.max(1, walked.length), items };
}

/** Opset from which `Softmax` works along one axis; before, the axes from it on count as one. */
const ONE_AXIS = 13;

/** `Softmax` and `LogSoftmax` along one axis. */
export function lowerSoftmax(lowering: Lowering, node: OnnxNode): void {
  const input = lowering.activationOf(node, 0);
  const { shape } = input;
  const isOne = lowering.opset >= ONE_AXIS;
  const named = intOf(node, "axis", isOne ? -1 : 1);
  const axis = named < 0 ? named + shape.length : named;
  const axes = isOne ? [axis] : shape.flatMap((_, at) => (at < axis ? [] : [at]));
  if (axes.includes(input.rowAxis)) throw unsupported(node, "it mixes rows");
  const which = node.operator === "LogSoftmax" ? 1 : 0;
  const numbers = { ...linesOf(node, input, axes), which };
  lowering.emit(node, { kind: "softmax", numbers, input, work: countElements(shape) });
}

/** `CumSum` along an axis. */
export function lowerCumulation(lowering: Lowering, node: OnnxNode): void {
  const input = lowering.activationOf(node, 0);
  const [named] = lowering.constantOf(node, 1).floats;
  const axis = named! < 0 ? named! + input.shape.length : named!;
  if (axis === input.rowAxis) throw unsupported(node, "it mixes rows");
  const [rows, filters] = [intOf(node, "exclusive", 0), intOf(node, "reverse", 0)];
  const numbers = { ...linesOf(node, input, [axis]), rows, filters };
  lowering.emit(node, { kind: "cumulate", numbers, input, work: countElements(input.shape) });
}

function axesOf({ shape }: Activation): WalkedAxis[] {
  const strides = stridesOf(shape);
  return shape.map((size, axis) => ({ size, a: strides[axis]!, b: 0, out: 0 }));
}

/** Neighbouring axes that can be walked as one. */
function joinAxes(axes: readonly WalkedAxis[]): WalkedAxis[] {
  const joined: WalkedAxis[] = [];
  for (const axis of axes) {
    if (axis.size === 1) continue;
    const last = joined.at(-1);
    if (last?.a === axis.a * axis.size) joined[joined.length - 1] = { ...axis, size: last.size * axis.size };
    else joined.push(axis);
  }
  return joined;
}

/** Three axes; missing leading ones have one element. */
function padAxes(node: OnnxNode, axes: readonly WalkedAxis[]): WalkedAxis[] {
  if (axes.length > 3) throw unsupported(node, "its axes do not lie together");
  return [...Array.from({ length: 3 - axes.length }, () => ({ size: 1, a: 0, b: 0, out: 0 })), ...axes];
}
