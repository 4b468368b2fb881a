import type { OnnxTensor } from "../../onnx/onnx-model.ts";
import { floatsOf } from "../../onnx/tensor-values.ts";
import { absmaxAlong, alongAxis } from "./along-axis.ts";
import { quantiseLinear, symmetricScale } from "./quantise-linear.ts";

/** −128 is not used, so that a weight and its negative are told alike. */
const HIGH = 127;

/** The scale of each channel by which its weights reach from −127 to 127. */
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
