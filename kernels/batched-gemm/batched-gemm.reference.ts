import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** C[batch × m × n] = A[batch × m × k] · B[batch × k × n], row-major, summed in f64. */
export function batchedGemmReference(
  inputs: KernelArrays,
  shape: KernelShape<"batch" | "m" | "n" | "k">,
): KernelReference {
  const { a, b } = inputs as { a: Float32Array; b: Float32Array };
  const { batch, m, n, k } = shape;
  return {
    output: "c",
    length: batch * m * n,
    elementFlops: 2 * k,
    element(index) {
      const product = Math.floor(index / (m * n));
      const row = Math.floor(index / n);
      const column = index % n;
      let sum = 0;
      for (let i = 0; i < k; i++) sum += a[row * k + i]! * b[(product * k + i) * n + column]!;
      return sum;
    },
  };
}
