import type { KernelArrays, KernelShape } from "../../kernels/kernel-spec.ts";
import { layOutLayers, type MlpSize } from "../../kernels/mlp/mlp-layers.ts";

/** A dense layer in the form of other libraries: weights[inner × outer] and bias[outer], without padding. */
export interface DenseLayer {
  readonly inner: number;
  readonly outer: number;
  readonly weights: Float32Array;
  readonly bias: Float32Array;
}

/** Extracts the layers from the padded parameters of the `mlp` kernel. */
export function readDenseLayers(inputs: KernelArrays, shape: KernelShape): DenseLayer[] {
  const parameters = inputs["parameters"] as Float32Array;
  return layOutLayers(shape as KernelShape<MlpSize>).map(({ inner, outer, pitch, weights, bias }) => {
    const dense = new Float32Array(inner * outer);
    for (let row = 0; row < inner; row++) {
      const start = weights + row * pitch;
      dense.set(parameters.subarray(start, start + outer), row * outer);
    }
    return { inner, outer, weights: dense, bias: parameters.subarray(bias, bias + outer) };
  });
}
