import { ADD, SUBTRACT, MULTIPLY, DIVIDE } from "./network-op.ts";
import { countElements, intOf, type OnnxNode } from "../../../onnx/onnx-model.ts";
import { emitMap } from "./lower-elementwise.ts";
import type { Lowering } from "./lowering.ts";
import { type Activation, type Constant, type Grid, unsupported, scalar } from "./network-value.ts";

/** Activation of kernels/network/seldom.wgsl. */
const ROUND = 39;

/** Range of levels of each type that activations are quantised to. */
const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  int8: [-128, 127],
  uint8: [0, 255],
  int16: [-32_768, 32_767],
  uint16: [0, 65_535],
};

/**
 * `QuantizeLinear` of an activation: rounds it to its grid and keeps it as float, so that the `DequantizeLinear` after
 * it does nothing.
 */
export function lowerQuantise(lowering: Lowering, node: OnnxNode): void {
  const value = lowering.activationOf(node, 0);
  const grid = gridOf(lowering, node);
  if (isSame(value.grid, grid)) {
    lowering.view(node, value);
    return;
  }
  if (lowering.quantise(node, grid)) lowering.view(node, { ...value, grid });
  else
    emitMap(lowering, node, value, { which: 0, quantised: 1, ...grid }, undefined, { ...lowering.reserve(node), grid });
}

/** `DequantizeLinear` of weights, which stay packed, of an activation that was quantised before, or of whole numbers. */
export function lowerDequantise(lowering: Lowering, node: OnnxNode): void {
  const value = lowering.valueOf(node, 0);
  if (value.kind === "constant") {
    lowering.define(node.outputs[0]!, dequantise(lowering, node, value));
    return;
  }
  if (value.grid === undefined && lowering.isInput(node.inputs[0]!)) {
    dequantiseWhole(lowering, node, value);
    return;
  }
  if (!isSame(value.grid, gridOf(lowering, node))) throw unsupported(node, "it reads another grid than was written");
  lowering.view(node, value);
}

/** Whole numbers, such as an input's, by one scale or one for each place along an axis. */
function dequantiseWhole(lowering: Lowering, node: OnnxNode, value: Activation): void {
  if (intOf(node, "block_size", 0) !== 0) throw unsupported(node, "its activations have scales by block");
  const [scale, zero] = [lowering.constantOf(node, 1), lowering.optionalConstant(node, 2)];
  const named = intOf(node, "axis", 1);
  const after = value.shape.length - 1 - (named < 0 ? named + value.shape.length : named);
  const byAxis = ({ floats }: Constant): Constant => {
    const shape = floats.length === 1 ? [] : [floats.length, ...Array.from({ length: after }, () => 1)];
    return { kind: "constant", shape, floats };
  };
  const between = zero === undefined ? value : lowering.reserve(node);
  if (zero !== undefined) emitMap(lowering, node, value, { which: SUBTRACT }, byAxis(zero), between);
  emitMap(lowering, node, between, { which: MULTIPLY }, byAxis(scale));
}

/** Whole numbers of an activation that is kept on its grid. */
export function emitLevels(lowering: Lowering, node: OnnxNode, value: Activation, { step, zero }: Grid): Activation {
  const { grid: _, ...plain } = value;
  const levels = (): Activation => ({ ...plain, region: { words: countElements(value.shape) }, offset: 0 });
  const [scaled, shifted] = [levels(), levels()];
  emitMap(lowering, node, value, { which: DIVIDE, activation: ROUND }, scalar(step), scaled);
  emitMap(lowering, node, scaled, { which: ADD }, scalar(zero), shifted);
  return shifted;
}

function gridOf(lowering: Lowering, node: OnnxNode): Grid {
  const [scale, zero] = [lowering.constantOf(node, 1), lowering.optionalConstant(node, 2)];
  if (scale.floats.length !== 1) throw unsupported(node, "its activations have several scales");
  const range = RANGES[lowering.dtypeOf(node.inputs[2] ?? "") ?? "uint8"];
  if (range === undefined) throw unsupported(node, "it quantises to another type than 8 or 16 bits");
  return { step: scale.floats[0]!, zero: zero?.floats[0] ?? 0, low: range[0], high: range[1] };
}

function isSame(one: Grid | undefined, other: Grid): boolean {
  return one !== undefined && (["step", "zero", "low", "high"] as const).every((key) => one[key] === other[key]);
}

function dequantise(lowering: Lowering, node: OnnxNode, { shape, floats: levels }: Constant): Constant {
  const [scale, zero] = [lowering.constantOf(node, 1), lowering.optionalConstant(node, 2)];
  const scaleAt = findScale(node, shape, scale);
  const scales = Float32Array.from(levels, (_, index) => scale.floats[scaleAt(index)]!);
  const zeros = levels.map((_, index) => zero?.floats[scaleAt(index)] ?? 0);
  const floats = levels.map((level, index) => (level - zeros[index]!) * scales[index]!);
  const dtype = lowering.dtypeOf(node.inputs[0]!);
  const bits = dtype === "int8" ? 8 : dtype === "int4" ? 4 : null;
  if (bits === null || zeros.some((each) => each !== 0)) return { kind: "constant", shape, floats };
  return { kind: "constant", shape, floats, grain: { bits, levels: Int8Array.from(levels), scales } };
}

/** Scale of an element: a single one, one by its place along an axis, or one by its block. */
function findScale(node: OnnxNode, shape: readonly number[], { floats, shape: own }: Constant) {
  if (floats.length === 1) return () => 0;
  const named = intOf(node, "axis", 1);
  const axis = named < 0 ? named + shape.length : named;
  const block = intOf(node, "block_size", 0);
  const inner = countElements(shape.slice(axis + 1));
  const size = shape[axis]!;
  if (block === 0) return (index: number) => Math.floor(index / inner) % size;
  const blocks = own[axis]!;
  return (index: number) => {
    const outer = Math.floor(index / (inner * size));
    return (outer * blocks + Math.floor((Math.floor(index / inner) % size) / block)) * inner + (index % inner);
  };
}
