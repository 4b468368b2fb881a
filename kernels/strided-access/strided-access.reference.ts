import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** y[i] = x[i · stride]. */
export function stridedAccessReference(inputs: KernelArrays, shape: KernelShape<"n" | "stride">): KernelReference {
  const { x } = inputs as { x: Float32Array };
  return { output: "y", length: shape.n, elementFlops: 1, element: (index) => x[index * shape.stride]! };
}
