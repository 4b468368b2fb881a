import { generateVectors, vectorDimension } from "../hrr-bind/hrr-vectors.ts";
import type { KernelArrays, KernelShape, KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { MAX_GROUPS } from "../webgpu-limits.ts";
import { type HrrSearchSize, hrrSearchReference } from "./hrr-search.reference.ts";

/** Queries that one invocation compares its item with. */
const QUERIES_AT_ONCE = 4;

/** Best on software devices: no barrier. */
const itemPerLane: KernelVariant<HrrSearchSize, "lanes"> = {
  name: "item-per-lane",
  file: "item-per-lane.wgsl",
  axes: [{ name: "lanes", values: [4, 16, 64], default: 16 }],
  passes: [
    {
      entryPoint: "main",
      workgroups: ({ queries, items }, { lanes }) => [
        Math.min(MAX_GROUPS, Math.ceil(items / lanes)),
        Math.ceil(queries / QUERIES_AT_ONCE),
        1,
      ],
    },
  ],
};

/** The textbook's: lanes along the vectors. */
const itemPerGroup: KernelVariant<HrrSearchSize, "lanes"> = {
  name: "item-per-group",
  file: "item-per-group.wgsl",
  axes: [{ name: "lanes", values: [4, 32, 64, 256], default: 64 }],
  passes: [{ entryPoint: "main", workgroups: ({ queries, items }) => [items, queries, 1] }],
};

/** Of each four items one is zero, and one lies near a query: both ends of the range. */
function generate({ queries, items, dimension }: KernelShape<HrrSearchSize>, seed: number): KernelArrays {
  const asked = generateVectors(seed, 0, queries, dimension);
  const stored = generateVectors(seed, 1, items, dimension);
  for (let item = 0; item < items; item++) {
    const own = stored.subarray(item * dimension, (item + 1) * dimension);
    const query = item % queries;
    if (item % 4 === 1) for (let i = 0; i < dimension; i++) own[i] = own[i]! / 4 - asked[query * dimension + i]!;
    if (item % 4 === 3) own.fill(0);
  }
  return { queries: asked, items: stored };
}

/** Comparison of holographic reduced representations with all items of a memory. */
export const hrrSearch: KernelSpec<HrrSearchSize> = {
  name: "hrr-search",
  description: "Cosine of every query with every item of a memory, 0 where one of them is zero",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "queries", description: "Vectors that are looked for", min: 1, max: 256, default: 4 },
    { name: "items", description: "Vectors of the memory", min: 1, max: MAX_GROUPS, default: 4096 },
    vectorDimension,
  ],
  batchDimension: "queries",
  dtypes: ["float32"],
  bindings: [
    {
      name: "queries",
      access: "read",
      dtype: "float32",
      extents: (shape) => [shape.queries, shape.dimension],
      alignment: [1, 4],
    },
    {
      name: "items",
      access: "read",
      dtype: "float32",
      extents: (shape) => [shape.items, shape.dimension],
      alignment: [1, 4],
    },
    {
      name: "cosines",
      access: "write",
      dtype: "float32",
      extents: ({ queries, items }) => [queries, items],
      alignment: [1, 1],
    },
  ],
  variants: [itemPerLane, itemPerGroup],
  flops: ({ queries, items, dimension }) => 2 * dimension * (queries * items + queries + items),
  bytes: ({ queries, items, dimension }) => 4 * (dimension * (queries + items) + queries * items),
  tolerance: {
    relative: 0,
    absolute: ({ dimension }) => 8 * Math.sqrt(dimension + 3) * 2 ** -24,
    reason:
      "rounding of three sums of d products in f32, λ·√d·u with λ = 8 (Higham and Mary, SIAM J. Sci. Comput. 2019), since Σ|x||y| is at most ‖x‖·‖y‖",
  },
  generate,
  reference: hrrSearchReference,
};
