import { countElements, intOf, intsOf, type OnnxNode, textOf } from "../../../onnx/onnx-model.ts";
import { emitMap } from "./lower-elementwise.ts";
import { along, emitPart, emitPlaces, emitWalk } from "./lower-movement.ts";
import type { Lowering } from "./lowering.ts";
import { stridesOf, COPY, SECOND, COPY_WHERE } from "./network-op.ts";
import { type Activation, type Constant, unsupported } from "./network-value.ts";

/** `Expand`: a copy that repeats axes of one element. */
export function lowerExpand(lowering: Lowering, node: OnnxNode): void {
  emitMap(lowering, node, lowering.activationOf(node, 0), { which: COPY });
}

/** `Tile`: a copy in which one axis after the other is walked again and again. */
export function lowerTile(lowering: Lowering, node: OnnxNode): void {
  const value = lowering.activationOf(node, 0);
  const output = lowering.reserve(node);
  const times = output.shape.map((size, axis) => size / value.shape[axis]!);
  if (value.rowAxis >= 0 && times[value.rowAxis] !== 1) throw unsupported(node, "it repeats rows");
  const tiled = [...times.keys()].filter((axis) => times[axis] !== 1);
  let part = value;
  for (const [index, axis] of tiled.entries()) {
    const shape = part.shape.with(axis, output.shape[axis]!);
    const isLast = index === tiled.length - 1;
    const next = isLast ? output : { ...part, shape, region: { words: countElements(shape) }, offset: 0 };
    const inner = countElements(part.shape.slice(axis));
    const axes = [
      { size: countElements(part.shape.slice(0, axis)), a: inner, b: 0, out: times[axis]! * inner },
      { size: times[axis]!, a: 0, b: 0, out: inner },
      { size: inner, a: 1, b: 0, out: 1 },
    ];
    emitWalk(lowering, node, part, axes, next);
    part = next;
  }
  if (tiled.length === 0) lowering.view(node, value);
}

/** `Split`: each output is a part. */
export function lowerSplit(lowering: Lowering, node: OnnxNode): void {
  const value = lowering.activationOf(node, 0);
  const axis = along(intOf(node, "axis", 0), value);
  if (axis === value.rowAxis) throw unsupported(node, "it parts rows");
  const moves = stridesOf(value.shape);
  let begun = 0;
  for (const name of node.outputs) {
    const named = { ...node, outputs: [name] };
    const { shape: sizes } = lowering.shapeOf(named);
    emitPart(lowering, named, value, { sizes, moves, from: begun * moves[axis]! });
    begun += sizes[axis]!;
  }
}

/** `Where`: a copy of the third operand, over which the second is copied where the first is true. */
export function lowerWhere(lowering: Lowering, node: OnnxNode): void {
  const output = lowering.reserve(node);
  const [condition, otherwise] = [lowering.valueOf(node, 0), lowering.valueOf(node, 2)];
  if (otherwise.kind === "activation") emitMap(lowering, node, otherwise, { which: COPY }, undefined, output);
  else emitMap(lowering, node, output, { which: SECOND }, otherwise, output);
  emitMap(lowering, node, lowering.activationOf(node, 1), { which: COPY_WHERE }, condition, output);
}

/** `Pad`: filled, or with elements found along each axis. Everything but the data was an attribute before opset 11. */
export function lowerPad(lowering: Lowering, node: OnnxNode): void {
  const value = lowering.activationOf(node, 0);
  const output = lowering.reserve(node);
  const pads = intsOf(node, "pads") ?? [...lowering.constantOf(node, 1).floats];
  const named = lowering.optionalConstant(node, 3)?.floats ?? value.shape.keys();
  const before = value.shape.map(() => 0);
  for (const [index, axis] of Array.from(named, (each) => along(each, value)).entries()) before[axis] = pads[index]!;
  const mode = textOf(node, "mode", "constant");
  if (mode === "constant") emitFilled(lowering, node, value, output, before);
  else emitBordered(lowering, node, value, { output, before, mode });
}

function emitFilled(
  lowering: Lowering,
  node: OnnxNode,
  value: Activation,
  output: Activation,
  before: readonly number[],
): void {
  const filler: Constant = lowering.optionalConstant(node, 2) ?? {
    kind: "constant",
    shape: [],
    floats: Float32Array.of(0),
  };
  emitMap(lowering, node, output, { which: SECOND }, { ...filler, shape: [] }, output);
  const [strides, outStrides] = [stridesOf(value.shape), stridesOf(output.shape)];
  const first = before.map((pad) => Math.max(0, -pad));
  const axes = value.shape.map((size, axis) => ({
    size: Math.min(size, output.shape[axis]! - before[axis]!) - first[axis]!,
    a: strides[axis]!,
    b: 0,
    out: outStrides[axis]!,
  }));
  if (axes.some(({ size }) => size <= 0)) return;
  const sum = (counts: readonly number[], by: readonly number[]) =>
    counts.reduce((total, count, axis) => total + count * by[axis]!, 0);
  const from = { ...value, offset: value.offset + sum(first, strides) };
  const at = sum(
    before.map((pad) => Math.max(0, pad)),
    outStrides,
  );
  emitWalk(lowering, node, from, axes, output, at);
}

/** Place in an axis of `size` elements that each mode repeats at `place`. */
const BORDERS: Readonly<Record<string, (place: number, size: number) => number>> = {
  edge: (place, size) => Math.min(size - 1, Math.max(0, place)),
  wrap: (place, size) => ((place % size) + size) % size,
  reflect: (place, size) => {
    const around = Math.max(1, 2 * (size - 1));
    const within = ((place % around) + around) % around;
    return within < size ? within : around - within;
  },
};

function emitBordered(
  lowering: Lowering,
  node: OnnxNode,
  value: Activation,
  { output, before, mode }: { readonly output: Activation; readonly before: readonly number[]; readonly mode: string },
): void {
  const placeOf = BORDERS[mode];
  if (placeOf === undefined) throw unsupported(node, `it pads by ${mode}`);
  const padded = [...value.shape.keys()].filter(
    (axis) => before[axis] !== 0 || output.shape[axis] !== value.shape[axis],
  );
  let part = value;
  for (const [index, axis] of padded.entries()) {
    const size = value.shape[axis]!;
    const places = Array.from({ length: output.shape[axis]! }, (_, place) => placeOf(place - before[axis]!, size));
    const shape = part.shape.with(axis, places.length);
    const next =
      index === padded.length - 1 ? output : { ...part, shape, region: { words: countElements(shape) }, offset: 0 };
    emitPlaces(lowering, node, part, { axis, places, output: next });
    part = next;
  }
  if (padded.length === 0) lowering.view(node, value);
  else lowering.define(node.outputs[0]!, output);
}

/** `DepthToSpace` and `SpaceToDepth`. */
export function lowerBlocks(lowering: Lowering, node: OnnxNode): void {
  const value = lowering.activationOf(node, 0);
  const output = lowering.reserve(node);
  const isDeep = node.operator === "SpaceToDepth";
  const block = intOf(node, "blocksize", 1);
  const [wide, deep] = isDeep ? [value.shape, output.shape] : [output.shape, value.shape];
  const [rows, channels, height, width] = wide as [number, number, number, number];
  const [wideStrides, deepStrides] = [stridesOf(wide), stridesOf(deep)];
  const isByColumns = !isDeep && textOf(node, "mode", "DCR") === "CRD";
  // Depth is counted by row and column of a block and then by channel, or the other way round.
  const channelStride = isByColumns ? block * block * deepStrides[1]! : deepStrides[1]!;
  const blockStride = isByColumns ? deepStrides[1]! : channels * deepStrides[1]!;
  const axes = [
    { size: rows, wide: wideStrides[0]!, deep: deepStrides[0]! },
    { size: channels, wide: wideStrides[1]!, deep: channelStride },
    { size: height / block, wide: block * wideStrides[2]!, deep: deepStrides[2]! },
    { size: block, wide: wideStrides[2]!, deep: block * blockStride },
    { size: width / block, wide: block, deep: 1 },
    { size: block, wide: 1, deep: blockStride },
  ].map((axis) => ({
    size: axis.size,
    a: isDeep ? axis.wide : axis.deep,
    b: 0,
    out: isDeep ? axis.deep : axis.wide,
  }));
  emitWalk(lowering, node, value, axes, output);
}
