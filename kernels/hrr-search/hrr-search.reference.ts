import { hrrSimilarityReference } from "../hrr-similarity/hrr-similarity.reference.ts";
import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

export type HrrSearchSize = "queries" | "items" | "dimension";

/** cosines[queries × items] in f64, 0 where a norm is 0. */
export function hrrSearchReference(
  arrays: KernelArrays,
  { queries: count, items: others, dimension }: KernelShape<HrrSearchSize>,
): KernelReference {
  const { queries, items } = arrays as { queries: Float32Array<ArrayBuffer>; items: Float32Array<ArrayBuffer> };
  return {
    output: "cosines",
    length: count * others,
    elementFlops: 6 * dimension,
    element(index) {
      const query = Math.floor(index / others);
      const item = index % others;
      const x = queries.slice(query * dimension, (query + 1) * dimension);
      const y = items.slice(item * dimension, (item + 1) * dimension);
      return hrrSimilarityReference({ x, y }, { pairs: 1, dimension }).element(0);
    },
  };
}
