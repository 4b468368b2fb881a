import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";
import { listColumns } from "../list-columns.ts";

/** C[m × n] = A[m × k] · B[k × n], row-major, summed in f64. */
export function gemmReference(inputs: KernelArrays, shape: KernelShape<"m" | "n" | "k">): KernelReference {
  const { a, b } = inputs as { a: Float32Array; b: Float32Array };
  const { m, n, k } = shape;
  let columns: Float32Array | null = null;
  return {
    output: "c",
    length: m * n,
    elementFlops: 2 * k,
    element(index) {
      const row = Math.floor(index / n);
      const column = index % n;
      columns ??= listColumns(b, k, n);
      let sum = 0;
      for (let i = 0; i < k; i++) sum += a[row * k + i]! * columns[column * k + i]!;
      return sum;
    },
  };
}
