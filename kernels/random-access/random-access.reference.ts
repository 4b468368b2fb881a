import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** y[i] = table[places[i]]. */
export function randomAccessReference(inputs: KernelArrays, shape: KernelShape<"n" | "span">): KernelReference {
  const { table, places } = inputs as { table: Float32Array; places: Int32Array };
  return { output: "y", length: shape.n, elementFlops: 1, element: (index) => table[places[index]!]! };
}
