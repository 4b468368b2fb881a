import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** The factor s, as STREAM has it. */
export const TRIAD_SCALE = 3;

/** a[i] = b[i] + s·c[i] in f64. */
export function triadReference(inputs: KernelArrays, shape: KernelShape<"n">): KernelReference {
  const { b, c } = inputs as { b: Float32Array; c: Float32Array };
  return {
    output: "a",
    length: shape.n,
    elementFlops: 2,
    element: (index) => b[index]! + TRIAD_SCALE * c[index]!,
  };
}
