import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** The largest of the values. */
export function maxReference(inputs: KernelArrays, shape: KernelShape<"n">): KernelReference {
  const { values } = inputs as { values: Float32Array };
  return {
    output: "high",
    length: 1,
    elementFlops: shape.n,
    element: () => values.reduce((high, value) => Math.max(high, value), Number.NEGATIVE_INFINITY),
  };
}
