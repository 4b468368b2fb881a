import { countElements, floatOf, intOf, type OnnxNode, textOf } from "../../../onnx/onnx-model.ts";
import { emitMap } from "./lower-elementwise.ts";
import { emitPlaces, emitWalk } from "./lower-movement.ts";
import type { Lowering } from "./lowering.ts";
import { stridesOf } from "./network-op.ts";
import { type Activation, type Constant, unsupported } from "./network-value.ts";

/** Functions of kernels/network/map.wgsl. */
const ADD = 1;
const MULTIPLY = 3;

/** `Resize` to the nearest element, or linear along one axis after the other. */
export function lowerResize(lowering: Lowering, node: OnnxNode): void {
  const value = lowering.activationOf(node, 0);
  const output = lowering.reserve(node);
  const mode = textOf(node, "mode", "nearest");
  if (intOf(node, "antialias", 0) !== 0 || (mode !== "nearest" && mode !== "linear")) {
    throw unsupported(node, `it is ${mode}${mode === "linear" ? " and anti-aliased" : ""}`);
  }
  if (textOf(node, "keep_aspect_ratio_policy", "stretch") !== "stretch") {
    throw unsupported(node, "its sizes follow from a ratio");
  }
  const resized = [...value.shape.keys()].filter((axis) => output.shape[axis] !== value.shape[axis]);
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
  let part = value;
  for (const [index, axis] of resized.entries()) {
    const shape = part.shape.with(axis, output.shape[axis]!);
    const isLast = index === resized.length - 1;
    const next = isLast ? output : { ...part, shape, region: { words: countElements(shape) }, offset: 0 };
    const from = placesOf(node, { size: value.shape[axis]!, length: output.shape[axis]!, scale: scales[axis]! });
    if (mode === "nearest") emitNearest(lowering, node, part, { axis, from, output: next });
    else emitLinear(lowering, node, part, { axis, from, output: next });
    part = next;
  }
  lowering.define(node.outputs[0]!, output);
}

/** Whether each element stands for a whole number of elements. */
function isRepeated(node: OnnxNode, value: Activation, output: Activation): boolean {
  const places = textOf(node, "coordinate_transformation_mode", "half_pixel");
  const nearest = textOf(node, "nearest_mode", "round_prefer_floor");
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

/** Factors by axis: as they are given, or as the sizes have them. */
function scalesOf(lowering: Lowering, node: OnnxNode, value: Activation, output: Activation): number[] {
  const given = lowering.optionalConstant(node, lowering.opset < 11 ? 1 : 2)?.floats;
  if (given?.length === value.shape.length) return [...given];
  return output.shape.map((size, axis) => size / value.shape[axis]!);
}

interface ResizedAxis {
  readonly size: number;
  readonly length: number;
  readonly scale: number;
}

/** Places in the input of each element of the output. Source: ONNX, Resize, `coordinate_transformation_mode`. */
function placesOf(node: OnnxNode, { size, length, scale }: ResizedAxis): number[] {
  const mode = textOf(node, "coordinate_transformation_mode", "half_pixel");
  const rules: Readonly<Record<string, (place: number) => number>> = {
    half_pixel: (place) => (place + 0.5) / scale - 0.5,
    pytorch_half_pixel: (place) => (length > 1 ? (place + 0.5) / scale - 0.5 : 0),
    asymmetric: (place) => place / scale,
    align_corners: (place) => (length > 1 ? (place * (size - 1)) / (length - 1) : 0),
    half_pixel_symmetric: (place) => {
      const centre = size / 2;
      return centre * (1 - length / (scale * size)) + (place + 0.5) / scale - 0.5;
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

function emitNearest(lowering: Lowering, node: OnnxNode, value: Activation, { axis, from, output }: ResizedPart): void {
  const nearest = NEAREST[textOf(node, "nearest_mode", "round_prefer_floor")]!;
  const places = from.map((place) => inside(nearest(place), value.shape[axis]!));
  emitPlaces(lowering, node, value, { axis, places, output });
}

/** The element before each place and the one after it, by their shares. */
function emitLinear(lowering: Lowering, node: OnnxNode, value: Activation, { axis, from, output }: ResizedPart): void {
  if (floatOf(node, "extrapolation_value", 0) !== 0) throw unsupported(node, "it extrapolates");
  const size = value.shape[axis]!;
  const copy = (): Activation => ({ ...output, region: { words: countElements(output.shape) }, offset: 0 });
  const parts = [0, 1].map((side) => {
    const part = copy();
    const places = from.map((place) => inside(Math.floor(place) + side, size));
    emitPlaces(lowering, node, value, { axis, places, output: part });
    const shares = from.map((place) => (side === 1 ? place - Math.floor(place) : 1 - (place - Math.floor(place))));
    const shape = output.shape.map((_, at) => (at === axis ? shares.length : 1));
    const constant: Constant = { kind: "constant", shape, floats: Float32Array.from(shares) };
    const scaled = copy();
    emitMap(lowering, node, part, { which: MULTIPLY }, constant, scaled);
    return scaled;
  });
  emitMap(lowering, node, parts[0]!, { which: ADD }, parts[1], output);
}

function inside(place: number, size: number): number {
  return Math.min(size - 1, Math.max(0, place));
}
