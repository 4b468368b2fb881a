import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** y[m] = A[m × k] · x[k], row-major, summed in f64. */
export function gemvReference(inputs: KernelArrays, shape: KernelShape<"m" | "k">): KernelReference {
  const { a, x } = inputs as { a: Float32Array; x: Float32Array };
  const { m, k } = shape;
  return {
    output: "y",
    length: m,
    elementFlops: 2 * k,
    element(row) {
      let sum = 0;
      for (let i = 0; i < k; i++) sum += a[row * k + i]! * x[i]!;
      return sum;
    },
  };
}
