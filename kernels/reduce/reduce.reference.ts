import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** total = Σ values in f64, in order. */
export function reduceReference(inputs: KernelArrays, shape: KernelShape<"n">): KernelReference {
  const { values } = inputs as { values: Float32Array };
  return {
    output: "total",
    length: 1,
    elementFlops: shape.n,
    element: () => values.reduce((sum, value) => sum + value, 0),
  };
}
