import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** y[channels × length] = (q − zero point) · scale, as ONNX's DequantizeLinear per axis, rounded to f32. */
export function dequantizeReference(inputs: KernelArrays, shape: KernelShape<"channels" | "length">): KernelReference {
  const { q, scales, zeroPoints } = inputs as { q: Int8Array; scales: Float32Array; zeroPoints: Int32Array };
  const { channels, length } = shape;
  return {
    output: "y",
    length: channels * length,
    elementFlops: 2,
    element(index) {
      const channel = Math.floor(index / length);
      return Math.fround((q[index]! - zeroPoints[channel]!) * scales[channel]!);
    },
  };
}
