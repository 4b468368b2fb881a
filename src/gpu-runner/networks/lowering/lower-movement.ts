import { countElements, intOf, intsOf, type OnnxNode } from "../../../onnx/onnx-model.ts";
import { sliceOf } from "../../../onnx/shape-rule.ts";
import type { Lowering } from "./lowering.ts";
import { type Activation, type Constant, type NetworkValue, unsupported } from "./network-value.ts";
import { stridesOf, type WalkedAxis, walkOver } from "./network-op.ts";

/** View with the same elements in the same order: `Reshape` and similar operators. */
export function lowerView(lowering: Lowering, node: OnnxNode): void {
  const value = lowering.valueOf(node, 0);
  if (value.kind === "activation") lowering.view(node, value);
  else lowering.define(node.outputs[0]!, { ...value, shape: lowering.constantShapeOf(node) });
}

/** `Transpose`; a view where the permuted axes have one element. */
export function lowerTranspose(lowering: Lowering, node: OnnxNode): void {
  const value = lowering.valueOf(node, 0);
  const order = intsOf(node, "perm") ?? [...value.shape.keys()].toReversed();
  const strides = stridesOf(value.shape);
  if (value.kind === "constant") {
    lowering.define(node.outputs[0]!, transposed(value, order));
    return;
  }
  const moving = order.filter((axis) => value.shape[axis] !== 1);
  if (moving.every((axis, index) => index === 0 || axis > moving[index - 1]!)) {
    lowering.view(node, value);
    return;
  }
  const output = lowering.reserve(node);
  const outStrides = stridesOf(output.shape);
  const axes = order.map((axis, index) => ({
    size: value.shape[axis]!,
    a: strides[axis]!,
    b: 0,
    out: outStrides[index]!,
  }));
  emitWalk(lowering, node, value, axes, output);
}

function transposed({ shape, floats, grain }: Constant, order: readonly number[]): Constant {
  const strides = stridesOf(shape);
  const sizes = order.map((axis) => shape[axis]!);
  const own = stridesOf(sizes);
  const from = (index: number) =>
    order.reduce((at, axis, place) => at + (Math.floor(index / own[place]!) % sizes[place]!) * strides[axis]!, 0);
  const pick = <Numbers extends Float32Array | Int8Array>(numbers: Numbers) =>
    numbers.map((_: number, index: number) => numbers[from(index)]!) as Numbers;
  const moved: Constant = { kind: "constant", shape: sizes, floats: pick(floats) };
  if (grain === undefined) return moved;
  if (grain.bits === 16) return { ...moved, grain };
  return { ...moved, grain: { ...grain, levels: pick(grain.levels), scales: pick(grain.scales) } };
}

/** `Slice`; a view where the selected elements are contiguous. */
export function lowerSlice(lowering: Lowering, node: OnnxNode): void {
  const value = lowering.activationOf(node, 0);
  // Everything was an attribute before opset 10.
  const [starts, ends, named, steps] = ["starts", "ends", "axes", "steps"].map(
    (name, index) => intsOf(node, name) ?? lowering.optionalConstant(node, index + 1)?.floats,
  );
  const strides = stridesOf(value.shape);
  const sizes = [...value.shape];
  const moves = [...strides];
  let from = 0;
  for (const [index, end] of ends!.entries()) {
    const axis = along(named?.[index] ?? index, value);
    if (axis === value.rowAxis) throw unsupported(node, "it picks rows");
    const step = steps?.[index] ?? 1;
    const { start, length } = sliceOf(value.shape[axis]!, starts![index]!, end, step);
    from += start * strides[axis]!;
    sizes[axis] = length;
    moves[axis] = step * strides[axis]!;
  }
  emitPart(lowering, node, value, { sizes, moves, from });
}

/** `Gather`; a part where constant indices are evenly spaced, else looked up. */
export function lowerGather(lowering: Lowering, node: OnnxNode): void {
  const [value, indices] = [lowering.valueOf(node, 0), lowering.valueOf(node, 1)];
  const axis = along(intOf(node, "axis", 0), value);
  if (value.kind === "activation" && axis === value.rowAxis) throw unsupported(node, "it picks rows");
  const size = value.shape[axis]!;
  const strides = stridesOf(value.shape);
  if (indices.kind === "constant") {
    const places = Array.from(indices.floats, (place) => (place < 0 ? place + size : place));
    const step = (places[1] ?? 1) - (places[0] ?? 0);
    if (places.length === 0 || places.some((place) => place < 0 || place >= size)) {
      throw unsupported(node, "its indices are empty or out of range");
    }
    if (value.kind === "activation" && places.every((place, index) => place === places[0]! + index * step)) {
      const sizes = value.shape.with(axis, places.length);
      const moves = strides.with(axis, step * strides[axis]!);
      emitPart(lowering, node, value, { sizes, moves, from: places[0]! * strides[axis]! });
      return;
    }
  }
  const own = stridesOf(indices.shape);
  const axes = [
    ...value.shape.slice(0, axis).map((length, at) => ({ size: length, a: 0, b: strides[at]! })),
    ...indices.shape.map((length, at) => ({ size: length, a: own[at]!, b: 0 })),
    ...value.shape.slice(axis + 1).map((length, at) => ({ size: length, a: 0, b: strides[axis + 1 + at]! })),
  ];
  emitLookUp(lowering, node, { indices, value, axes, size, apart: strides[axis]! });
}

/** Axis of a value that grows with the rows; -1 where none does. */
function rowAxisOf(value: NetworkValue): number {
  return value.kind === "activation" ? value.rowAxis : -1;
}

/** Whether a row of one value has its row of the other at the same place; also where neither has rows. */
export function pairsRows(one: NetworkValue, other: NetworkValue): boolean {
  const axis = rowAxisOf(one);
  return axis === rowAxisOf(other) && (axis < 0 || one.shape[axis] === other.shape[axis]);
}

/** `GatherElements`: an index for each element of the output. */
export function lowerGatherElements(lowering: Lowering, node: OnnxNode): void {
  const [value, indices] = [lowering.valueOf(node, 0), lowering.valueOf(node, 1)];
  const axis = along(intOf(node, "axis", 0), value);
  const isPicked = rowAxisOf(value) < 0 && [-1, axis].includes(rowAxisOf(indices));
  if (axis === rowAxisOf(value) || !(isPicked || pairsRows(value, indices))) throw unsupported(node, "it picks rows");
  const [strides, own] = [stridesOf(value.shape), stridesOf(indices.shape)];
  const axes = indices.shape.map((size, at) => ({ size, a: own[at]!, b: at === axis ? 0 : strides[at]! }));
  emitLookUp(lowering, node, { indices, value, axes, size: value.shape[axis]!, apart: strides[axis]! });
}

/** Elements of a value that indices name along one axis. */
interface LookUp {
  readonly indices: NetworkValue;
  readonly value: NetworkValue;
  /** Axes of the output, with the strides of the indices (a) and of the value (b). */
  readonly axes: readonly Omit<WalkedAxis, "out">[];
  /** Elements along the axis that the indices count, and how far they lie apart. */
  readonly size: number;
  readonly apart: number;
}

/** Function of kernels/network/seldom.wgsl. */
const LOOK_UP = 30;

export function emitLookUp(lowering: Lowering, node: OnnxNode, { indices, value, axes, size, apart }: LookUp): void {
  const output = lowering.reserve(node);
  const outStrides = stridesOf(axes.map((axis) => axis.size));
  const walk = walkOver(axes.map((axis, at) => ({ ...axis, out: outStrides[at]! })));
  if (walk === null) throw unsupported(node, "its operand has too many axes");
  const items = countElements(output.shape);
  const other =
    value.kind === "constant" ? { other: lowering.weights.putFloats(value.floats), otherIsConstant: 1 } : {};
  const numbers = { ...walk, ...other, which: LOOK_UP, height: size, channels: apart, items };
  const spots = { input: lowering.inArena(indices), ...(value.kind === "activation" && { other: value }) };
  lowering.emit(node, { kind: "map", numbers, ...spots, work: items }, output);
}

/** Elements along one axis, by a list of places. */
export function emitPlaces(
  lowering: Lowering,
  node: OnnxNode,
  value: Activation,
  { axis, places, output }: { readonly axis: number; readonly places: readonly number[]; readonly output: Activation },
): void {
  const strides = stridesOf(value.shape);
  const indices: NetworkValue = { kind: "constant", shape: [places.length], floats: Float32Array.from(places) };
  const sizes = value.shape.with(axis, places.length);
  const outStrides = stridesOf(sizes);
  const walk = walkOver(
    sizes.map((size, at) => ({
      size,
      a: at === axis ? 1 : 0,
      b: at === axis ? 0 : strides[at]!,
      out: outStrides[at]!,
    })),
  );
  if (walk === null) throw unsupported(node, "its operand has too many axes");
  const items = countElements(sizes);
  const numbers = { ...walk, which: LOOK_UP, height: value.shape[axis]!, channels: strides[axis]!, items };
  const input = lowering.inArena(indices);
  lowering.operators.push({ kind: "map", numbers, input, other: value, output, work: items });
}

interface Part {
  readonly sizes: readonly number[];
  /** Stride of the input along each axis. */
  readonly moves: readonly number[];
  readonly from: number;
}

export function emitPart(lowering: Lowering, node: OnnxNode, value: Activation, { sizes, moves, from }: Part): void {
  const strides = stridesOf(sizes);
  if (sizes.every((size, axis) => size === 1 || moves[axis] === strides[axis])) {
    lowering.view(node, value, from);
    return;
  }
  const axes = sizes.map((size, axis) => ({ size, a: moves[axis]!, b: 0, out: strides[axis]! }));
  emitWalk(lowering, node, { ...value, offset: value.offset + from }, axes, lowering.reserve(node));
}

/** `Concat`: each part is written to its offset. */
export function lowerConcat(lowering: Lowering, node: OnnxNode): void {
  const isEmpty = (input: number) => countElements(lowering.valueOf(node, input).shape) === 0;
  const parts = node.inputs.flatMap((_, input) => (isEmpty(input) ? [] : [lowering.activationOf(node, input)]));
  const output = lowering.reserve(node);
  const axis = along(intOf(node, "axis", 0), output);
  if (axis === output.rowAxis) throw unsupported(node, "it joins rows");
  if (new Set(parts.map(({ grid }) => JSON.stringify(grid))).size > 1) throw unsupported(node, "its grids differ");
  const outStrides = stridesOf(output.shape);
  let begun = 0;
  for (const part of parts) {
    const strides = stridesOf(part.shape);
    const axes = part.shape.map((size, at) => ({ size, a: strides[at]!, b: 0, out: outStrides[at]! }));
    emitWalk(lowering, node, part, axes, output, begun * outStrides[axis]!);
    begun += part.shape[axis]!;
  }
}

/** Copies elements along axes into an output, from offset `first`. */
export function emitWalk(
  lowering: Lowering,
  node: OnnxNode,
  value: Activation,
  axes: readonly WalkedAxis[],
  output: Activation,
  first = 0,
): void {
  const walk = walkOver(axes);
  if (walk === null) throw unsupported(node, "its operand has too many axes");
  const items = countElements(axes.map(({ size }) => size));
  lowering.emit(
    node,
    { kind: "map", numbers: { ...walk, which: 0, items }, input: value, work: items },
    { ...output, offset: output.offset + first },
  );
  lowering.define(node.outputs[0]!, value.grid === undefined ? output : { ...output, grid: value.grid });
}

export function along(axis: number, { shape }: Pick<Activation, "shape">): number {
  return axis < 0 ? axis + shape.length : axis;
}
