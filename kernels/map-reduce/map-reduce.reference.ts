import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** total = Σ a[i] · b[i] in f64, in order. */
export function mapReduceReference(inputs: KernelArrays, { n }: KernelShape<"n">): KernelReference {
  const { a, b } = inputs as { a: Float32Array; b: Float32Array };
  return {
    output: "total",
    length: 1,
    elementFlops: 2 * n,
    element: () => a.reduce((sum, value, i) => sum + value * b[i]!, 0),
  };
}
