import { countElements, floatOf, intOf, intsOf, type OnnxNode, textOf } from "../../../onnx/onnx-model.ts";
import { emitMap } from "./lower-elementwise.ts";
import { emitPlaces, emitWalk } from "./lower-movement.ts";
import type { Lowering } from "./lowering.ts";
import { stridesOf, ADD, MULTIPLY, COPY_WHERE } from "./network-op.ts";
import { type Activation, type Constant, unsupported, scalar } from "./network-value.ts";

/** `Resize`, and `Upsample` as it was called before: nearest elements, or sums of some along one axis after the other. */
export function lowerResize(lowering: Lowering, node: OnnxNode): void {
  const value = lowering.activationOf(node, 0);
  const output = lowering.reserve(node);
  const mode = textOf(node, "mode", "nearest");
  const isCropped = placing(node) === "tf_crop_and_resize";
  const resized = [...value.shape.keys()].filter((axis) => output.shape[axis] !== value.shape[axis] || isCropped);
  if (resized.includes(value.rowAxis)) throw unsupported(node, "it mixes rows");
  if (resized.length === 0) {
    lowering.view(node, value);
    return;
  }
  if (mode === "nearest" && isRepeated(node, value, output)) {
    emitRepeated(lowering, node, value, output);
    return;
  }
  const scales = scalesOf(lowering, node, value, output);
  const axes = resized.map((axis) => {
    const crop = isCropped ? cropOf(lowering, node, value, axis) : undefined;
    const sizes = { size: value.shape[axis]!, length: output.shape[axis]!, scale: scales[axis]! };
    return { axis, scale: scales[axis]!, from: placesOf(node, { ...sizes, crop }) };
  });
  let part = value;
  for (const [index, { axis, scale, from }] of axes.entries()) {
    const shape = part.shape.with(axis, output.shape[axis]!);
    const isLast = index === axes.length - 1;
    const next = isLast ? output : { ...part, shape, region: { words: countElements(shape) }, offset: 0 };
    if (mode === "nearest") emitNearest(lowering, node, part, { axis, from, output: next });
    else emitSums(lowering, node, part, { axis, taps: tapsOf(node, from, part.shape[axis]!, scale), output: next });
    part = next;
  }
  if (isCropped) for (const { axis, from } of axes) emitOutside(lowering, node, output, { axis, from, value });
  lowering.define(node.outputs[0]!, output);
}

/** How places of the output are found in the input; `Upsample` has no pixel centres. */
function placing(node: OnnxNode): string {
  return textOf(node, "coordinate_transformation_mode", node.operator === "Upsample" ? "asymmetric" : "half_pixel");
}

/** Region of interest along an axis, as shares of its last place. */
function cropOf(lowering: Lowering, node: OnnxNode, { shape }: Activation, axis: number): readonly [number, number] {
  const named = intsOf(node, "axes")?.map((each) => (each < 0 ? each + shape.length : each)) ?? [...shape.keys()];
  const [at, { floats }] = [named.indexOf(axis), lowering.constantOf(node, 1)];
  return at < 0 ? [0, 1] : [floats[at]!, floats[at + named.length]!];
}

/** The number for places outside of the input. */
function emitOutside(
  lowering: Lowering,
  node: OnnxNode,
  output: Activation,
  { axis, from, value }: { readonly axis: number; readonly from: readonly number[]; readonly value: Activation },
): void {
  const last = value.shape[axis]! - 1;
  const outside = from.map((place) => Number(place < 0 || place > last));
  if (!outside.includes(1)) return;
  const filler = scalar(floatOf(node, "extrapolation_value", 0));
  const shape = output.shape.map((_, at) => (at === axis ? outside.length : 1));
  const mask: Constant = { kind: "constant", shape, floats: Float32Array.from(outside) };
  emitMap(lowering, node, lowering.inArena(filler), { which: COPY_WHERE }, mask, output);
}

/** Whether each element stands for a whole number of elements. */
function isRepeated(node: OnnxNode, value: Activation, output: Activation): boolean {
  const places = placing(node);
  const nearest = nearestMode(node);
  const isWhole = output.shape.every((size, axis) => Number.isInteger(size / value.shape[axis]!));
  // With whole factors, pixel centres and pixel corners select the same pixels.
  const isRounded = places === "half_pixel" && nearest.startsWith("round");
  return isWhole && (isRounded || (places === "asymmetric" && nearest === "floor"));
}

function emitRepeated(lowering: Lowering, node: OnnxNode, value: Activation, output: Activation): void {
  const factors = output.shape.map((size, axis) => size / value.shape[axis]!);
  const [strides, outStrides] = [stridesOf(value.shape), stridesOf(output.shape)];
  const axes = value.shape.flatMap((size, axis) => [
    { size, a: strides[axis]!, b: 0, out: factors[axis]! * outStrides[axis]! },
    { size: factors[axis]!, a: 0, b: 0, out: outStrides[axis]! },
  ]);
  emitWalk(lowering, node, value, axes, output);
}

/** Factors by axis: as they are given, or as the sizes have them. One factor keeps the ratio of the sizes. */
function scalesOf(lowering: Lowering, node: OnnxNode, value: Activation, output: Activation): number[] {
  const named = intsOf(node, "axes")?.map((axis) => (axis < 0 ? axis + value.shape.length : axis));
  const axes = named ?? [...value.shape.keys()];
  const given = lowering.optionalConstant(node, lowering.opset < 11 ? 1 : 2)?.floats;
  const sizes = lowering.optionalConstant(node, 3)?.floats;
  const policy = textOf(node, "keep_aspect_ratio_policy", "stretch");
  const scales = output.shape.map((size, axis) => size / value.shape[axis]!);
  if (given?.length === axes.length) axes.forEach((axis, index) => (scales[axis] = given[index]!));
  else if (sizes !== undefined && policy !== "stretch") {
    const ratios = axes.map((axis, index) => sizes[index]! / value.shape[axis]!);
    const one = policy === "not_larger" ? Math.min(...ratios) : Math.max(...ratios);
    for (const axis of axes) scales[axis] = one;
  }
  return scales;
}

interface ResizedAxis {
  readonly size: number;
  readonly length: number;
  readonly scale: number;
  /** Start and end of the region of interest. */
  readonly crop: readonly [number, number] | undefined;
}

/** Places in the input of each element of the output. Source: ONNX, Resize, `coordinate_transformation_mode`. */
function placesOf(node: OnnxNode, { size, length, scale, crop = [0, 1] }: ResizedAxis): number[] {
  const mode = placing(node);
  const rules: Readonly<Record<string, (place: number) => number>> = {
    half_pixel: (place) => (place + 0.5) / scale - 0.5,
    pytorch_half_pixel: (place) => (length > 1 ? (place + 0.5) / scale - 0.5 : 0),
    asymmetric: (place) => place / scale,
    align_corners: (place) => (length > 1 ? (place * (size - 1)) / (length - 1) : 0),
    half_pixel_symmetric: (place) => {
      const centre = size / 2;
      return centre * (1 - length / (scale * size)) + (place + 0.5) / scale - 0.5;
    },
    tf_crop_and_resize: (place) => {
      const [start, end] = crop;
      if (length === 1) return 0.5 * (start + end) * (size - 1);
      return start * (size - 1) + (place * (end - start) * (size - 1)) / (length - 1);
    },
  };
  const rule = rules[mode];
  if (rule === undefined) throw unsupported(node, `it places elements by ${mode}`);
  return Array.from({ length }, (_, place) => rule(place));
}

interface ResizedPart {
  readonly axis: number;
  readonly from: readonly number[];
  readonly output: Activation;
}

const NEAREST: Readonly<Record<string, (place: number) => number>> = {
  floor: Math.floor,
  ceil: Math.ceil,
  round_prefer_floor: (place) => Math.ceil(place - 0.5),
  round_prefer_ceil: (place) => Math.floor(place + 0.5),
};

function nearestMode(node: OnnxNode): string {
  return textOf(node, "nearest_mode", node.operator === "Upsample" ? "floor" : "round_prefer_floor");
}

function emitNearest(lowering: Lowering, node: OnnxNode, value: Activation, { axis, from, output }: ResizedPart): void {
  const nearest = NEAREST[nearestMode(node)]!;
  const places = from.map((place) => inside(nearest(place), value.shape[axis]!));
  emitPlaces(lowering, node, value, { axis, places, output });
}

/** Elements that one element of the output is a sum of, and their shares. */
type Taps = readonly { readonly place: number; readonly share: number }[];

/**
 * Two or four elements around each place by the distance from it, or more where a smaller picture shall not alias.
 * Sources: ONNX, Resize; R. Keys, "Cubic convolution interpolation", 1981.
 */
function tapsOf(node: OnnxNode, from: readonly number[], size: number, scale: number): Taps[] {
  const isCubic = textOf(node, "mode", "nearest") === "cubic";
  const isNarrow = intOf(node, "antialias", 0) !== 0 && scale < 1;
  const reach = (isCubic ? 2 : 1) / (isNarrow ? scale : 1);
  const a = floatOf(node, "cubic_coeff_a", -0.75);
  const shareOf = (distance: number) => (isCubic ? cubic(a, distance) : Math.max(0, 1 - distance));
  const isBounded = intOf(node, "exclude_outside", 0) !== 0;
  return from.map((place) => {
    const first = Math.floor(place) - Math.ceil(reach) + 1;
    const around = Array.from({ length: 2 * Math.ceil(reach) }, (_, index) => first + index);
    const shares = around.map((each) => {
      const isOutside = each < 0 || each >= size;
      return isBounded && isOutside ? 0 : shareOf(Math.abs(each - place) * (isNarrow ? scale : 1));
    });
    const sum = isBounded || isNarrow ? shares.reduce((total, share) => total + share, 0) : 1;
    return around.map((each, index) => ({ place: inside(each, size), share: shares[index]! / sum }));
  });
}

function cubic(a: number, x: number): number {
  if (x >= 2) return 0;
  return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

interface SummedPart {
  readonly axis: number;
  readonly taps: readonly Taps[];
  readonly output: Activation;
}

function emitSums(lowering: Lowering, node: OnnxNode, value: Activation, { axis, taps, output }: SummedPart): void {
  const copy = (): Activation => ({ ...output, region: { words: countElements(output.shape) }, offset: 0 });
  const shape = output.shape.map((_, at) => (at === axis ? taps.length : 1));
  const used = [...taps[0]!.keys()].filter((tap) => taps.some((each) => each[tap]!.share !== 0));
  let sum: Activation | undefined;
  for (const [index, tap] of used.entries()) {
    const [part, scaled] = [copy(), copy()];
    emitPlaces(lowering, node, value, { axis, places: taps.map((each) => each[tap]!.place), output: part });
    const shares: Constant = { kind: "constant", shape, floats: Float32Array.from(taps, (each) => each[tap]!.share) };
    emitMap(
      lowering,
      node,
      part,
      { which: MULTIPLY },
      shares,
      sum === undefined && used.length === 1 ? output : scaled,
    );
    const total = index === used.length - 1 ? output : copy();
    if (sum !== undefined) emitMap(lowering, node, sum, { which: ADD }, scaled, total);
    sum = sum === undefined ? scaled : total;
  }
}

function inside(place: number, size: number): number {
  return Math.min(size - 1, Math.max(0, place));
}
