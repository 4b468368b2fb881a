import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** B[n × m] = A[m × n] transposed, row-major. */
export function transposeReference(inputs: KernelArrays, shape: KernelShape<"m" | "n">): KernelReference {
  const { a } = inputs as { a: Float32Array };
  const { m, n } = shape;
  return {
    output: "b",
    length: m * n,
    elementFlops: 1,
    element: (index) => a[(index % m) * n + Math.floor(index / m)]!,
  };
}
