import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** counts[b] = how many keys are b; keys outside of [0, bins) count nowhere. */
export function histogramReference(inputs: KernelArrays, shape: KernelShape<"n" | "bins">): KernelReference {
  const { keys } = inputs as { keys: Int32Array };
  const { n, bins } = shape;
  let counts: Float64Array | null = null;

  function count(): Float64Array {
    const totals = new Float64Array(bins);
    for (let i = 0; i < n; i++) {
      const key = keys[i]!;
      if (key >= 0 && key < bins) totals[key]!++;
    }
    return totals;
  }

  return { output: "counts", length: bins, elementFlops: 1, element: (bin) => (counts ??= count())[bin]! };
}
