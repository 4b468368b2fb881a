import { countElements, intOf, intsOf, type OnnxNode } from "../../../onnx/onnx-model.ts";
import { windowsOf } from "../../../onnx/shape-rule.ts";
import { pictures } from "./lower-convolution.ts";
import type { Lowering } from "./lowering.ts";
import { type Activation, unsupported } from "./network-value.ts";
import { stridesOf, type WalkedAxis, writeWalk } from "./network-op.ts";

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
};

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

/** Means, sums and similar reductions over axes, and pools over whole images. */
export function lowerReduction(lowering: Lowering, node: OnnxNode): void {
  const input = lowering.activationOf(node, 0);
  const { shape } = input;
  const named = node.operator.startsWith("Global")
    ? shape.flatMap((_, axis) => (axis < 2 ? [] : [axis]))
    : (intsOf(node, "axes") ?? lowering.optionalConstant(node, 1)?.floats ?? shape.keys());
  const gone = new Set(Array.from(named, (axis) => (axis < 0 ? axis + shape.length : axis)));
  if (gone.has(input.rowAxis)) throw unsupported(node, "it mixes rows");
  const axes = axesOf(input);
  const split = [axes.filter((_, axis) => !gone.has(axis)), axes.filter((_, axis) => gone.has(axis))].map(joinAxes);
  const [kept, walked] = split.map((each) => padAxes(node, each));
  const output = lowering.reserve(node);
  const items = countElements(output.shape);
  const numbers = { ...writeWalk([...kept!, ...walked!]), which: REDUCTIONS[node.operator]!, items };
  lowering.emit(node, { kind: "reduce", numbers, input, work: countElements(shape) }, output);
}

/** `Softmax` and `LogSoftmax` along one axis. */
export function lowerSoftmax(lowering: Lowering, node: OnnxNode): void {
  const input = lowering.activationOf(node, 0);
  const named = intOf(node, "axis", -1);
  const axis = named < 0 ? named + input.shape.length : named;
  if (axis === input.rowAxis) throw unsupported(node, "it mixes rows");
  const axes = axesOf(input);
  const kept = padAxes(node, joinAxes(axes.filter((_, index) => index !== axis)));
  const output = lowering.reserve(node);
  const items = countElements(input.shape) / input.shape[axis]!;
  const numbers = { ...writeWalk([...kept, ...padAxes(node, [axes[axis]!])]), items };
  const which = node.operator === "LogSoftmax" ? 1 : 0;
  lowering.emit(
    node,
    { kind: "softmax", numbers: { ...numbers, which }, input, work: countElements(input.shape) },
    output,
  );
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
