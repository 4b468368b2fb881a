import { countElements, intOf, type OnnxNode, textOf } from "../../../onnx/onnx-model.ts";
import { emitMap } from "./lower-elementwise.ts";
import { along, emitLookUp, pairsRows } from "./lower-movement.ts";
import { linesOf, softmaxAxes } from "./lower-pool.ts";
import type { Lowering } from "./lowering.ts";
import {
  stridesOf,
  type WalkedAxis,
  walkLines,
  walkOver,
  COPY,
  ADD,
  MULTIPLY,
  SECOND,
  COPY_WHERE,
} from "./network-op.ts";
import { type Activation, type Constant, type NetworkValue, unsupported, scalar } from "./network-value.ts";

/** Functions of kernels/network/map.wgsl and seldom.wgsl. */
const REMAINDER = 16;
const EQUAL = 22;
/** Reduction of kernels/network/seldom.wgsl. */
const PLACE_OF_LARGEST = 12;
/** How kernels/network/seldom.wgsl scatters. */
const UPDATES: Readonly<Record<string, number>> = { none: 0, add: 1, mul: 2, max: 3, min: 4 };

/** Value of a shape that no node names. */
function apart(like: Activation, shape: readonly number[]): Activation {
  return { kind: "activation", shape, rowAxis: like.rowAxis, region: { words: countElements(shape) }, offset: 0 };
}

/** Node whose result no other node reads by name. */
function unnamed(node: OnnxNode): OnnxNode {
  return { ...node, outputs: [" between"] };
}

/** `TopK` along an axis: the places first, then the elements there. */
export function lowerTopK(lowering: Lowering, node: OnnxNode): void {
  const value = lowering.activationOf(node, 0);
  const axis = along(intOf(node, "axis", -1), value);
  if (axis === value.rowAxis) throw unsupported(node, "it mixes rows");
  const form = lowering.shapeOf(node);
  const places = apart(value, form.shape);
  const [strides, outStrides] = [stridesOf(value.shape), stridesOf(form.shape)];
  const axes = value.shape.map((size, at) => ({ size, a: strides[at]!, b: 0, out: outStrides[at]! }));
  const outer = axes.filter((_, at) => at !== axis);
  const walk = walkLines(outer, axes[axis]!);
  if (walk === null) throw unsupported(node, "its operand has too many axes");
  const [size, height] = [value.shape[axis]!, form.shape[axis]!];
  const items = countElements(outer.map((each) => each.size));
  const numbers = { ...walk, which: intOf(node, "largest", 1) === 0 ? 1 : 0, height, items };
  lowering.emit(
    { ...node, outputs: [node.outputs[1] || " places"] },
    { kind: "select", numbers, input: value, work: items * size * height },
    places,
  );
  const moves = outStrides.map((a, at) => ({ size: form.shape[at]!, a, b: at === axis ? 0 : strides[at]! }));
  emitLookUp(lowering, node, { indices: places, value, axes: moves, size, apart: strides[axis]! });
}

/** `OneHot`: filled with the off value, over which the on value is copied where the index names the place. */
export function lowerOneHot(lowering: Lowering, node: OnnxNode): void {
  const [indices, values] = [lowering.activationOf(node, 0), lowering.activationOf(node, 2)];
  const output = lowering.reserve(node);
  const named = intOf(node, "axis", -1);
  const axis = named < 0 ? named + output.shape.length : named;
  const depth = output.shape[axis]!;
  const inner = output.shape.slice(axis + 1).map(() => 1);
  const wide: Activation = { ...indices, shape: indices.shape.toSpliced(axis, 0, 1) };
  const valueAt = (offset: number): Activation => ({ ...values, shape: [], offset: values.offset + offset });
  emitMap(lowering, node, valueAt(0), { which: COPY }, undefined, output);
  // Negative indices count from the end.
  for (const first of [0, -depth]) {
    const floats = Float32Array.from({ length: depth }, (_, place) => place + first);
    const isHere = apart(output, output.shape);
    emitMap(
      lowering,
      unnamed(node),
      wide,
      { which: EQUAL },
      { kind: "constant", shape: [depth, ...inner], floats },
      isHere,
    );
    emitMap(lowering, node, valueAt(1), { which: COPY_WHERE }, isHere, output);
  }
}

/** `Hardmax`: 1 at the first of the largest elements. */
export function lowerHardmax(lowering: Lowering, node: OnnxNode): void {
  const input = lowering.activationOf(node, 0);
  const axes = softmaxAxes(lowering, node, input);
  const output = lowering.reserve(node);
  const largest = apart(
    input,
    input.shape.map((size, axis) => (axes.includes(axis) ? 1 : size)),
  );
  const numbers = { ...linesOf(node, input, axes), which: PLACE_OF_LARGEST };
  lowering.emit(unnamed(node), { kind: "reduceSeldom", numbers, input, work: countElements(input.shape) }, largest);
  const shape = input.shape.map((size, axis) => (axes.includes(axis) ? size : 1));
  const places: Constant = {
    kind: "constant",
    shape,
    floats: Float32Array.from({ length: countElements(shape) }, (_, at) => at),
  };
  emitMap(lowering, node, largest, { which: EQUAL }, places, output);
}

/** `Trilu`: a copy of the kept triangle over zeros. */
export function lowerTrilu(lowering: Lowering, node: OnnxNode): void {
  const input = lowering.activationOf(node, 0);
  const [height, width] = input.shape.slice(-2) as [number, number];
  if (input.rowAxis >= input.shape.length - 2) throw unsupported(node, "it mixes rows");
  const diagonal = lowering.optionalConstant(node, 1)?.floats[0] ?? 0;
  const isUpper = intOf(node, "upper", 1) !== 0;
  const isKept = (at: number) => {
    const beside = (at % width) - Math.floor(at / width) - diagonal;
    return isUpper ? beside >= 0 : beside <= 0;
  };
  const floats = Float32Array.from({ length: height * width }, (_, at) => Number(isKept(at)));
  const output = lowering.reserve(node);
  emitMap(lowering, node, input, { which: SECOND }, scalar(0), output);
  emitMap(lowering, node, input, { which: COPY_WHERE }, { kind: "constant", shape: [height, width], floats }, output);
}

/** `EyeLike`: a constant. */
export function lowerEyeLike(lowering: Lowering, node: OnnxNode): void {
  const { shape, rowAxis } = lowering.shapeOf(node);
  if (rowAxis >= 0) throw unsupported(node, "it mixes rows");
  const [width, diagonal] = [shape[1]!, intOf(node, "k", 0)];
  const isOne = (at: number) => (at % width) - Math.floor(at / width) === diagonal;
  const floats = Float32Array.from({ length: countElements(shape) }, (_, at) => Number(isOne(at)));
  lowering.define(node.outputs[0]!, { kind: "constant", shape, floats });
}

/** `GatherND`: its index tuples become indices of one axis, which are looked up. */
export function lowerGatherND(lowering: Lowering, node: OnnxNode): void {
  const [value, indices] = [lowering.valueOf(node, 0), lowering.valueOf(node, 1)];
  const batch = intOf(node, "batch_dims", 0);
  const depth = indices.shape.at(-1)!;
  const counted = value.shape.slice(batch, batch + depth);
  const isCounted = value.kind === "activation" && value.rowAxis >= batch && value.rowAxis < batch + depth;
  const areBatched = [value, indices].some(
    (each) => each.kind === "activation" && each.rowAxis >= 0 && each.rowAxis < batch,
  );
  if (isCounted || (areBatched && !pairsRows(value, indices))) throw unsupported(node, "it picks rows");
  const flat = emitFlatIndices(lowering, node, indices, counted);
  const [strides, own] = [stridesOf(value.shape), stridesOf(flat.shape)];
  const axes = [
    ...flat.shape.map((size, at) => ({ size, a: own[at]!, b: at < batch ? strides[at]! : 0 })),
    ...value.shape.slice(batch + depth).map((size, at) => ({ size, a: 0, b: strides[batch + depth + at]! })),
  ];
  const inner = countElements(value.shape.slice(batch + depth));
  emitLookUp(lowering, node, { indices: flat, value, axes, size: countElements(counted), apart: inner });
}

/** Index along the axes together instead of one for each of them; negative ones count from the end of their axis. */
function emitFlatIndices(
  lowering: Lowering,
  node: OnnxNode,
  indices: NetworkValue,
  counted: readonly number[],
): NetworkValue {
  const shape = indices.shape.slice(0, -1);
  const steps = stridesOf(counted);
  if (indices.kind === "constant") {
    const floats = Float32Array.from({ length: countElements(shape) }, (_, at) =>
      counted.reduce((sum, size, axis) => {
        const index = indices.floats[at * counted.length + axis]!;
        return sum + (index < 0 ? index + size : index) * steps[axis]!;
      }, 0),
    );
    return { kind: "constant", shape, floats };
  }
  const own = stridesOf(indices.shape);
  const between = unnamed(node);
  let sum: Activation | undefined;
  for (const [axis, size] of counted.entries()) {
    const part = apart(indices, shape);
    const numbers = { which: REMAINDER };
    const from: Activation = { ...indices, offset: indices.offset + axis };
    emitStrided(lowering, between, from, own.slice(0, -1), { numbers, second: scalar(size), output: part });
    const scaled = steps[axis] === 1 ? part : apart(indices, shape);
    if (scaled !== part) emitMap(lowering, between, part, { which: MULTIPLY }, scalar(steps[axis]!), scaled);
    const total: Activation = sum === undefined ? scaled : apart(indices, shape);
    if (sum !== undefined) emitMap(lowering, between, sum, { which: ADD }, scaled, total);
    sum = total;
  }
  return sum ?? { kind: "constant", shape, floats: new Float32Array(countElements(shape)) };
}

/** Function of elements that lie by strides of their own, and of a number. */
function emitStrided(
  lowering: Lowering,
  node: OnnxNode,
  input: Activation,
  strides: readonly number[],
  { numbers, second, output }: { numbers: Record<string, number>; second: Constant; output: Activation },
): void {
  const outStrides = stridesOf(output.shape);
  const axes = output.shape.map((size, at) => ({ size, a: strides[at]!, b: 0, out: outStrides[at]! }));
  const walk = walkOver(axes);
  if (walk === null) throw unsupported(node, "its operand has too many axes");
  const items = countElements(output.shape);
  const other = { other: lowering.weights.putFloats(second.floats), otherIsConstant: 1 };
  lowering.emit(node, { kind: "map", numbers: { ...walk, ...other, ...numbers, items }, input, work: items }, output);
}

/** `ScatterElements`, and `Scatter` as it was called before: a copy of the data that takes the updates. */
export function lowerScatterElements(lowering: Lowering, node: OnnxNode): void {
  const [indices, updates] = [lowering.activationOf(node, 1), lowering.activationOf(node, 2)];
  const { output, which } = copyData(lowering, node);
  const axis = along(intOf(node, "axis", 0), output);
  // Others lie at the first rows only.
  const arePaired = [indices, updates].every((each) => pairsRows(each, output));
  if (axis === output.rowAxis || !arePaired) throw unsupported(node, "it picks rows");
  const [own, strides] = [stridesOf(indices.shape), stridesOf(output.shape)];
  const axes = indices.shape.map((size, at) => ({
    size,
    a: own[at]!,
    b: own[at]!,
    out: at === axis ? 0 : strides[at]!,
  }));
  emitScatter(lowering, node, {
    indices,
    updates,
    output,
    outer: axes.filter((_, at) => at !== axis),
    line: axes[axis]!,
    which,
    height: output.shape[axis]!,
    channels: strides[axis]!,
  });
}

/** `ScatterND`: its index tuples become indices of one axis. */
export function lowerScatterND(lowering: Lowering, node: OnnxNode): void {
  const [value, indices, updates] = [0, 1, 2].map((input) => lowering.valueOf(node, input)) as [
    NetworkValue,
    NetworkValue,
    NetworkValue,
  ];
  const depth = indices.shape.at(-1)!;
  const counted = value.shape.slice(0, depth);
  const flat = lowering.inArena(emitFlatIndices(lowering, node, indices, counted));
  const { output, which } = copyData(lowering, node);
  if (output.rowAxis >= 0) throw unsupported(node, "it picks rows");
  const [inner, count] = [countElements(value.shape.slice(depth)), countElements(flat.shape)];
  emitScatter(lowering, node, {
    indices: flat,
    updates: lowering.inArena(updates),
    output,
    outer: [{ size: inner, a: 0, b: 1, out: 1 }],
    line: { size: count, a: 1, b: inner, out: 0 },
    which,
    height: countElements(counted),
    channels: inner,
  });
}

/** `TensorScatter`: each row's update goes to its cache from a place on, behind whose end it may begin again. */
export function lowerTensorScatter(lowering: Lowering, node: OnnxNode): void {
  const updates = lowering.activationOf(node, 1);
  const { output } = copyData(lowering, node);
  const axis = along(intOf(node, "axis", -2), output);
  const [rows, length, size] = [updates.shape[0]!, updates.shape[axis]!, output.shape[axis]!];
  const starts = node.inputs[2] ? lowering.activationOf(node, 2) : lowering.inArena(scalar(0));
  const isApart = node.inputs[2] && starts.rowAxis !== (output.rowAxis === 0 ? 0 : -1);
  if (axis === output.rowAxis || isApart || !pairsRows(updates, output)) throw unsupported(node, "it picks rows");
  const counted: Constant = {
    kind: "constant",
    shape: [length],
    floats: Float32Array.from({ length }, (_, place) => place),
  };
  const indices = apart(updates, [rows, length]);
  const column: Activation = { ...starts, shape: starts.shape.length === 0 ? [] : [rows, 1] };
  emitMap(lowering, unnamed(node), column, { which: ADD }, counted, indices);
  const isCircular = textOf(node, "mode", "linear") === "circular";
  const within = isCircular ? apart(updates, [rows, length]) : indices;
  if (isCircular) emitMap(lowering, unnamed(node), indices, { which: REMAINDER }, scalar(size), within);
  const [own, strides] = [stridesOf(updates.shape), stridesOf(output.shape)];
  const axes = updates.shape.map((each, at) => ({
    size: each,
    a: at === 0 ? length : 0,
    b: own[at]!,
    out: at === axis ? 0 : strides[at]!,
  }));
  emitScatter(lowering, node, {
    indices: within,
    updates,
    output,
    outer: axes.filter((_, at) => at !== axis),
    line: { ...axes[axis]!, a: 1 },
    which: 0,
    height: size,
    channels: strides[axis]!,
  });
}

function copyData(lowering: Lowering, node: OnnxNode): { output: Activation; which: number } {
  const reduction = textOf(node, "reduction", "none");
  const which = UPDATES[reduction];
  if (which === undefined) throw unsupported(node, `it combines by ${reduction}`);
  const output = lowering.reserve(node);
  emitMap(lowering, node, lowering.activationOf(node, 0), { which: COPY }, undefined, output);
  return { output, which };
}

interface Scatter {
  readonly indices: Activation;
  readonly updates: Activation;
  readonly output: Activation;
  /** Axes of the lines, which do not write to each other's elements, and the axis of a line. */
  readonly outer: readonly WalkedAxis[];
  readonly line: WalkedAxis;
  readonly which: number;
  readonly height: number;
  readonly channels: number;
}

function emitScatter(
  lowering: Lowering,
  node: OnnxNode,
  { indices, updates, output, outer, line, which, height, channels }: Scatter,
): void {
  const walk = walkLines(outer, line);
  if (walk === null) throw unsupported(node, "its operand has too many axes");
  const items = countElements(outer.map(({ size }) => size));
  const numbers = { ...walk, which, height, channels, items };
  lowering.emit(node, { kind: "scatter", numbers, input: indices, factor: updates, work: items * line.size }, output);
}
