import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** sums[i] = values[0] + … + values[i] in f64; asking for elements in order costs one pass. */
export function scanReference(inputs: KernelArrays, shape: KernelShape<"n">): KernelReference {
  const { values } = inputs as { values: Float32Array };
  let sums: Float64Array | null = null;

  function sumUp(): Float64Array {
    const totals = new Float64Array(shape.n);
    let sum = 0;
    for (let i = 0; i < shape.n; i++) totals[i] = sum += values[i]!;
    return totals;
  }

  return {
    output: "sums",
    length: shape.n,
    elementFlops: 1,
    element: (index) => (sums ??= sumUp())[index]!,
  };
}
