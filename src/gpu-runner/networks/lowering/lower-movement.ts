import { countElements, intOf, intsOf, type OnnxNode, textOf } from "../../../onnx/onnx-model.ts";
import { sliceOf } from "../../../onnx/shape-rule.ts";
import type { Lowering } from "./lowering.ts";
import { type Activation, type Constant, unsupported } from "./network-value.ts";
import { stridesOf, type WalkedAxis, walkOver } from "./network-op.ts";

/** Largest number of elements that a slice or selection copies one by one. */
const MAX_PICKED = 64;

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
  const [starts, ends, named, steps] = [1, 2, 3, 4].map((input) => lowering.optionalConstant(node, input)?.floats);
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

/** `Gather` with constant indices. */
export function lowerGather(lowering: Lowering, node: OnnxNode): void {
  const value = lowering.activationOf(node, 0);
  const axis = along(intOf(node, "axis", 0), value);
  if (axis === value.rowAxis) throw unsupported(node, "it picks rows");
  const { floats } = lowering.constantOf(node, 1);
  const size = value.shape[axis]!;
  const places = Array.from(floats, (place) => (place < 0 ? place + size : place));
  const step = (places[1] ?? 1) - (places[0] ?? 0);
  if (places.length === 0 || places.some((place) => place < 0 || place >= size)) {
    throw unsupported(node, "its indices are empty or out of range");
  }
  const strides = stridesOf(value.shape);
  if (places.every((place, index) => place === places[0]! + index * step)) {
    const sizes = value.shape.with(axis, places.length);
    const moves = strides.with(axis, step * strides[axis]!);
    emitPart(lowering, node, value, { sizes, moves, from: places[0]! * strides[axis]! });
    return;
  }
  if (places.length > MAX_PICKED) throw unsupported(node, `it picks more than ${MAX_PICKED} places in no order`);
  const output = lowering.reserve(node);
  const sizes = value.shape.with(axis, places.length);
  const outStrides = stridesOf(sizes);
  for (const [index, place] of places.entries()) {
    const axes = sizes.map((length, at) => ({
      size: at === axis ? 1 : length,
      a: strides[at]!,
      b: 0,
      out: outStrides[at]!,
    }));
    const part = { ...value, offset: value.offset + place * strides[axis]! };
    emitWalk(lowering, node, part, axes, output, index * outStrides[axis]!);
  }
}

interface Part {
  readonly sizes: readonly number[];
  /** Stride of the input along each axis. */
  readonly moves: readonly number[];
  readonly from: number;
}

function emitPart(lowering: Lowering, node: OnnxNode, value: Activation, { sizes, moves, from }: Part): void {
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
  const parts = node.inputs.map((_, input) => lowering.activationOf(node, input));
  const output = lowering.reserve(node);
  const axis = along(intOf(node, "axis", 0), output);
  if (axis === output.rowAxis) throw unsupported(node, "it joins rows");
  const outStrides = stridesOf(output.shape);
  let begun = 0;
  for (const part of parts) {
    const strides = stridesOf(part.shape);
    const axes = part.shape.map((size, at) => ({ size, a: strides[at]!, b: 0, out: outStrides[at]! }));
    emitWalk(lowering, node, part, axes, output, begun * outStrides[axis]!);
    begun += part.shape[axis]!;
  }
}

/** `Resize` and `Upsample` to the nearest element, by whole factors. */
export function lowerResize(lowering: Lowering, node: OnnxNode): void {
  const value = lowering.activationOf(node, 0);
  const output = lowering.reserve(node);
  const mode = textOf(node, "mode", "nearest");
  const places = textOf(node, "coordinate_transformation_mode", "half_pixel");
  const nearest = textOf(node, "nearest_mode", "round_prefer_floor");
  const factors = output.shape.map((size, axis) => size / value.shape[axis]!);
  // With whole factors, pixel centres and pixel corners select the same pixels.
  const isPlain = places === "half_pixel" || (places === "asymmetric" && nearest === "floor");
  if (mode !== "nearest" || !isPlain || !factors.every((factor) => Number.isInteger(factor))) {
    throw unsupported(node, `it is ${mode}, ${places}, ${nearest}, by ${factors.join(" × ")}`);
  }
  const [strides, outStrides] = [stridesOf(value.shape), stridesOf(output.shape)];
  const axes = value.shape.flatMap((size, axis) => [
    { size, a: strides[axis]!, b: 0, out: factors[axis]! * outStrides[axis]! },
    { size: factors[axis]!, a: 0, b: 0, out: outStrides[axis]! },
  ]);
  emitWalk(lowering, node, value, axes, output);
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
  lowering.define(node.outputs[0]!, output);
}

function along(axis: number, { shape }: Activation): number {
  return axis < 0 ? axis + shape.length : axis;
}
