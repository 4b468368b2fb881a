import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** counts[c] = how many of 0 … n − 1 are c modulo `counters`. */
export function atomicsContentionReference(
  _: KernelArrays,
  { n, counters }: KernelShape<"n" | "counters">,
): KernelReference {
  return {
    output: "counts",
    length: counters,
    elementFlops: 1,
    element: (counter) => Math.ceil((n - counter) / counters),
  };
}
