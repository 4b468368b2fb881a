import { roundHalfEven } from "./round-half-even.ts";

/** What whole numbers of a type can be. */
export const RANGES = {
  int8: { low: -128, high: 127 },
  uint8: { low: 0, high: 255 },
  int4: { low: -8, high: 7 },
  int32: { low: -(2 ** 31), high: 2 ** 31 - 1 },
} as const;
export type QuantisedDtype = keyof typeof RANGES;

/** How numbers are told by whole ones: number = (whole − zeroPoint) · scale. The scale is a float32. */
export interface Quantisation {
  readonly dtype: QuantisedDtype;
  readonly scale: number;
  readonly zeroPoint: number;
}

/** ONNX's QuantizeLinear of one float32: divides in float32, rounds half to even, adds the zero point, saturates. */
export function quantiseLinear(value: number, { dtype, scale, zeroPoint }: Quantisation): number {
  const { low, high } = RANGES[dtype];
  const whole = roundHalfEven(Math.fround(Math.fround(value) / scale)) + zeroPoint;
  // What is no number is the smallest, as in ONNX Runtime.
  return whole > low ? Math.min(high, whole) : low;
}

/** ONNX's DequantizeLinear of one whole number, in float32. */
export function dequantiseLinear(whole: number, { scale, zeroPoint }: Quantisation): number {
  return Math.fround(Math.fround(whole - zeroPoint) * scale);
}

/**
 * The quantisation to uint8 of what lies between two numbers, as ONNX's DynamicQuantizeLinear chooses it: zero is
 * always among them and told exactly. Where there is nothing but zero, the scale is 1.
 */
export function quantisationOf(range: { readonly min: number; readonly max: number }): Quantisation {
  const [min, max] = [Math.fround(Math.min(0, range.min)), Math.fround(Math.max(0, range.max))];
  const scale = Math.fround(Math.fround(max - min) / 255);
  if (!(scale > 0)) return { dtype: "uint8", scale: 1, zeroPoint: 0 };
  const zeroPoint = roundHalfEven(Math.fround(Math.fround(0 - min) / scale));
  return { dtype: "uint8", scale, zeroPoint: Math.min(255, Math.max(0, zeroPoint)) };
}

/** The scale that tells numbers up to `absmax` by −`high` … `high`; 1 where there is nothing but zero. */
export function symmetricScale(absmax: number, high: number): number {
  const scale = Math.fround(absmax / high);
  return scale > 0 ? scale : 1;
}
