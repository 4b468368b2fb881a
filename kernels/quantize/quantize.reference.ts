import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** To the nearest integer, ties to the even one; Math.round takes them up. */
export function roundHalfEven(value: number): number {
  const rounded = Math.round(value);
  return rounded - value === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
}

/** q[channels × length] = saturate(round-half-even(x / scale) + zero point) to int8, as ONNX's QuantizeLinear per axis. */
export function quantizeReference(inputs: KernelArrays, shape: KernelShape<"channels" | "length">): KernelReference {
  const { x, scales, zeroPoints } = inputs as { x: Float32Array; scales: Float32Array; zeroPoints: Int32Array };
  const { channels, length } = shape;
  return {
    output: "q",
    length: channels * length,
    elementFlops: 2,
    element(index) {
      const channel = Math.floor(index / length);
      // ONNX divides in f32; the quotient of two f32 in f64, rounded again, is that one.
      const quotient = Math.fround(x[index]! / scales[channel]!);
      return Math.max(-128, Math.min(127, roundHalfEven(quotient) + zeroPoints[channel]!));
    },
  };
}
