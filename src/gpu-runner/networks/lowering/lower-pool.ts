import { countElements, floatOf, intOf, intsOf, type OnnxNode } from "../../../onnx/onnx-model.ts";
import { type Window, windowsOf } from "../../../onnx/shape-rule.ts";
import { pictures, STILL } from "./lower-convolution.ts";
import { emitMap } from "./lower-elementwise.ts";
import type { Lowering } from "./lowering.ts";
import { type Activation, unsupported, scalar } from "./network-value.ts";
import {
  type OpNumbers,
  stridesOf,
  type WalkedAxis,
  writeWalk,
  COPY,
  ADD,
  MULTIPLY,
  POWER,
  SQUARE,
} from "./network-op.ts";

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
  GlobalLpPool: WHICH.norm,
  ReduceLogSum: WHICH.sum,
  ReduceProd: 8,
  ReduceL1: 9,
  ReduceSumSquare: 10,
  ReduceLogSumExp: 11,
  ArgMax: 12,
  ArgMin: 13,
};
/** Reductions of no elements that are not 0. */
const OF_NOTHING: Readonly<Record<string, number>> = {
  ReduceLogSum: Number.NEGATIVE_INFINITY,
  ReduceLogSumExp: Number.NEGATIVE_INFINITY,
  ReduceMax: Number.NEGATIVE_INFINITY,
  ReduceMean: Number.NaN,
  ReduceMin: Number.POSITIVE_INFINITY,
  ReduceProd: 1,
};
/** First reduction that kernels/network/seldom.wgsl computes. */
const FIRST_SELDOM = 8;
/** Activations in kernels/network/finish.wgsl. */
const LOG = 9;
const ABSOLUTE = 11;

/** `MaxPool` and `AveragePool`. */
export function lowerPool(lowering: Lowering, node: OnnxNode): void {
  const input = lowering.activationOf(node, 0);
  if (node.outputs.length > 1) throw unsupported(node, "it returns the indices of the largest elements");
  const output = lowering.reserve(node);
  const windows = windowsOf(node, input.shape.slice(2));
  const isMax = node.operator === "MaxPool";
  const isPadded = !isMax && intOf(node, "count_include_pad", 0) !== 0;
  // Windows that extend beyond the padding average over the elements inside, not over the whole kernel.
  if (isPadded && intOf(node, "ceil_mode", 0) !== 0) throw unsupported(node, "it counts padding and rounds up");
  const which = isMax ? WHICH.largest : isPadded ? WHICH.paddedMean : WHICH.mean;
  // The maximum of numbers on a grid is on that grid.
  const kept = isMax && input.grid !== undefined ? { ...output, grid: input.grid } : output;
  emitPool(lowering, node, { input, output: kept, windows, which });
}

interface Pool {
  readonly input: Activation;
  readonly output: Activation;
  readonly windows: readonly Window[];
  readonly which: number;
}

/** Pool over one or two axes; over three, its planes first and then those between each other, which gives the same. */
function emitPool(lowering: Lowering, node: OnnxNode, { input, output, windows, which }: Pool): void {
  if (windows.length === 3) {
    const [rows, channels, depth, height, width] = input.shape as [number, number, number, number, number];
    const [outDepth, outHeight, outWidth] = output.shape.slice(2) as [number, number, number];
    const [flat, long] = [
      [rows, channels * depth, height, width],
      [rows, channels, depth, outHeight * outWidth],
    ];
    const shape = [rows, channels * depth, outHeight, outWidth];
    const planes: Activation = { ...output, shape, region: { words: countElements(shape) }, offset: 0 };
    const flatInput = { ...input, shape: flat };
    emitPool(lowering, node, { input: flatInput, output: planes, windows: windows.slice(1), which });
    const joined = { ...output, shape: [rows, channels, outDepth, outHeight * outWidth] };
    const between = [windows[0]!, STILL];
    emitPool(lowering, node, { input: { ...planes, shape: long }, output: joined, windows: between, which });
    lowering.define(node.outputs[0]!, output);
    return;
  }
  const geometry = pictures(node, input.shape, output.shape, windows);
  const items = countElements(output.shape);
  const work = items * geometry["kernelHeight"]! * geometry["kernelWidth"]!;
  lowering.emit(node, { kind: "pool", numbers: { ...geometry, which, items }, input, work }, output);
}

/** `LpPool`: a mean of powers, times their number. */
export function lowerLpPool(lowering: Lowering, node: OnnxNode): void {
  const input = lowering.activationOf(node, 0);
  const output = lowering.reserve(node);
  if (intOf(node, "ceil_mode", 0) !== 0) throw unsupported(node, "it rounds up");
  const windows = windowsOf(node, input.shape.slice(2));
  const p = intOf(node, "p", 2);
  const powers: Activation = { ...input, region: { words: countElements(input.shape) }, offset: 0 };
  const sizes: Activation = { ...powers, region: { words: powers.region.words } };
  emitMap(lowering, node, input, { which: COPY, activation: ABSOLUTE }, undefined, sizes);
  emitMap(lowering, node, sizes, { which: POWER }, scalar(p), powers);
  const copy = (): Activation => ({ ...output, region: { words: countElements(output.shape) } });
  const [means, sums] = [copy(), copy()];
  emitPool(lowering, node, { input: powers, output: means, windows, which: WHICH.paddedMean });
  const taps = windows.reduce((count, { kernel }) => count * kernel, 1);
  emitMap(lowering, node, means, { which: MULTIPLY }, scalar(taps), sums);
  emitMap(lowering, node, sums, { which: POWER }, scalar(1 / p), output);
}

/** `LRN`: divides by a power of the mean square over neighbouring channels. */
export function lowerLocalNorm(lowering: Lowering, node: OnnxNode): void {
  const input = lowering.activationOf(node, 0);
  const output = lowering.reserve(node);
  const size = intOf(node, "size", 1);
  const [rows, channels] = input.shape as [number, number];
  const shape = [rows, 1, channels, countElements(input.shape.slice(2))];
  const copy = (): Activation => ({ ...input, region: { words: countElements(input.shape) }, offset: 0 });
  const [squares, means, scaled, shifted, factors] = [copy(), copy(), copy(), copy(), copy()];
  emitMap(lowering, node, input, { which: SQUARE }, undefined, squares);
  const before = Math.floor((size - 1) / 2);
  const window = { kernel: size, stride: 1, dilation: 1, before, after: size - 1 - before };
  const pooled = { input: { ...squares, shape }, output: { ...means, shape }, which: WHICH.paddedMean };
  emitPool(lowering, node, { ...pooled, windows: [window, STILL] });
  emitMap(lowering, node, means, { which: MULTIPLY }, scalar(floatOf(node, "alpha", 0.0001)), scaled);
  emitMap(lowering, node, scaled, { which: ADD }, scalar(floatOf(node, "bias", 1)), shifted);
  emitMap(lowering, node, shifted, { which: POWER }, scalar(-floatOf(node, "beta", 0.75)), factors);
  emitMap(lowering, node, input, { which: MULTIPLY }, factors, output);
}

/** Means, sums and similar reductions over axes, pools over whole images, and places of extremes along an axis. */
export function lowerReduction(lowering: Lowering, node: OnnxNode): void {
  if (countElements(lowering.valueOf(node, 0).shape) === 0) {
    const { shape } = lowering.shapeOf(node);
    const floats = new Float32Array(countElements(shape)).fill(OF_NOTHING[node.operator] ?? 0);
    lowering.define(node.outputs[0]!, { kind: "constant", shape, floats });
    return;
  }
  const input = lowering.activationOf(node, 0);
  if (node.operator === "GlobalLpPool" && intOf(node, "p", 2) !== 2) throw unsupported(node, "its norm is another");
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
  const which = node.operator === "LogSoftmax" ? 1 : 0;
  const numbers = { ...linesOf(node, input, softmaxAxes(lowering, node, input)), which };
  lowering.emit(node, { kind: "softmax", numbers, input, work: countElements(input.shape) });
}

/** Axes that `Softmax` and its kin take as one. */
export function softmaxAxes(lowering: Lowering, node: OnnxNode, { shape, rowAxis }: Activation): number[] {
  const isOne = lowering.opset >= ONE_AXIS;
  const named = intOf(node, "axis", isOne ? -1 : 1);
  const axis = named < 0 ? named + shape.length : named;
  const axes = isOne ? [axis] : shape.flatMap((_, at) => (at < axis ? [] : [at]));
  if (axes.includes(rowAxis)) throw unsupported(node, "it mixes rows");
  return axes;
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
