import type { OnnxTensor } from "../../onnx/onnx-model.ts";
import { floatsOf } from "../../onnx/tensor-values.ts";
import { absmaxAlong, alongAxis } from "./linear-layers.ts";

/** Four-bit integers in ONNX's format: the lower half of a byte first, a last odd one padded with zero. */
export function packHalves(halves: ArrayLike<number>): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.ceil(halves.length / 2));
  for (let place = 0; place < halves.length; place++) bytes[place >> 1]! |= (halves[place]! & 15) << (4 * (place & 1));
  return bytes;
}

/** Nearest integer, ties to even, as in IEEE 754 and ONNX's quantisation. */
export function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}

/** Range of integers of a type. */
export const RANGES = {
  int8: { low: -128, high: 127 },
  uint8: { low: 0, high: 255 },
  int4: { low: -8, high: 7 },
  int32: { low: -(2 ** 31), high: 2 ** 31 - 1 },
} as const;
export type QuantisedDtype = keyof typeof RANGES;

/** Affine quantisation: number = (whole − zeroPoint) · scale. The scale is a float32. */
export interface Quantisation {
  readonly dtype: QuantisedDtype;
  readonly scale: number;
  readonly zeroPoint: number;
}

/** ONNX's QuantizeLinear of one float32: divides in float32, rounds half to even, adds the zero point, saturates. */
export function quantiseLinear(value: number, { dtype, scale, zeroPoint }: Quantisation): number {
  const { low, high } = RANGES[dtype];
  const whole = roundHalfEven(Math.fround(Math.fround(value) / scale)) + zeroPoint;
  // NaN becomes the smallest integer, as in ONNX Runtime.
  return whole > low ? Math.min(high, whole) : low;
}

/** ONNX's DequantizeLinear of one integer, in float32. */
export function dequantiseLinear(whole: number, { scale, zeroPoint }: Quantisation): number {
  return Math.fround(Math.fround(whole - zeroPoint) * scale);
}

/**
 * Quantisation of a range to uint8 as in ONNX's DynamicQuantizeLinear: the range always includes zero, which is exact.
 * The scale of a range of zero alone is 1.
 */
export function quantisationOf(range: { readonly min: number; readonly max: number }): Quantisation {
  const [min, max] = [Math.fround(Math.min(0, range.min)), Math.fround(Math.max(0, range.max))];
  const scale = Math.fround(Math.fround(max - min) / 255);
  if (!(scale > 0)) return { dtype: "uint8", scale: 1, zeroPoint: 0 };
  const zeroPoint = roundHalfEven(Math.fround(Math.fround(0 - min) / scale));
  return { dtype: "uint8", scale, zeroPoint: Math.min(255, Math.max(0, zeroPoint)) };
}

/** Scale that maps numbers up to `absmax` to −`high` … `high`; 1 for zero alone. */
export function symmetricScale(absmax: number, high: number): number {
  const scale = Math.fround(absmax / high);
  return scale > 0 ? scale : 1;
}

/** −128 is not used, so that a weight and its negative are quantised alike. */
const HIGH = 127;

/** Scale of each channel that maps its weights to −127 … 127. */
export function channelScales(weights: OnnxTensor, axis: number): Float32Array<ArrayBuffer> {
  return Float32Array.from(absmaxAlong(floatsOf(weights), weights.dims, axis), (each) => symmetricScale(each, HIGH));
}

/** Weights as int8, each by the scale of its channel. */
export function quantisePerChannel(weights: OnnxTensor, axis: number, scales: Float32Array): Int8Array<ArrayBuffer> {
  const channelOf = alongAxis(weights.dims, axis);
  return Int8Array.from(floatsOf(weights), (value, place) =>
    quantiseLinear(value, { dtype: "int8", scale: scales[channelOf(place)]!, zeroPoint: 0 }),
  );
}
