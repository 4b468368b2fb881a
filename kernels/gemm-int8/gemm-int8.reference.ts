import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** C[m × n] = A[m × k] · B[n × k]ᵀ, row-major; sums of integers below 2⁵³ are exact. */
export function gemmInt8Reference(inputs: KernelArrays, shape: KernelShape<"m" | "n" | "k">): KernelReference {
  const { a, b } = inputs as { a: Int8Array; b: Int8Array };
  const { m, n, k } = shape;
  return {
    output: "c",
    length: m * n,
    elementFlops: 2 * k,
    element(index) {
      const row = Math.floor(index / n);
      const column = index % n;
      let sum = 0;
      for (let i = 0; i < k; i++) sum += a[row * k + i]! * b[column * k + i]!;
      return sum;
    },
  };
}
