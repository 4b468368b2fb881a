import { generateVectors, pairsDimension, vectorDimension } from "../hrr-bind/hrr-vectors.ts";
import type { KernelArrays, KernelShape, KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { coverItems } from "../webgpu-limits.ts";
import { hrrSimilarityReference } from "./hrr-similarity.reference.ts";

type Size = "pairs" | "dimension";

/** Best on software devices: no barrier. */
const pairPerLane: KernelVariant<Size, "lanes"> = {
  name: "pair-per-lane",
  file: "pair-per-lane.wgsl",
  axes: [{ name: "lanes", values: [4, 16, 64], default: 16 }],
  passes: [{ entryPoint: "main", workgroups: ({ pairs }, { lanes }) => coverItems(pairs, lanes) }],
};

/** The textbook's: lanes along the vectors. */
const pairPerGroup: KernelVariant<Size, "lanes"> = {
  name: "pair-per-group",
  file: "pair-per-group.wgsl",
  axes: [{ name: "lanes", values: [4, 32, 64, 256], default: 64 }],
  passes: [{ entryPoint: "main", workgroups: ({ pairs }) => [pairs, 1, 1] }],
};

/** Of each four pairs one has a vector of zeros, and in another y is near x: both ends of the range. */
function generate({ pairs, dimension }: KernelShape<Size>, seed: number): KernelArrays {
  const x = generateVectors(seed, 0, pairs, dimension);
  const y = generateVectors(seed, 1, pairs, dimension);
  for (let pair = 0; pair < pairs; pair++) {
    const own = y.subarray(pair * dimension, (pair + 1) * dimension);
    if (pair % 4 === 1) for (let i = 0; i < dimension; i++) own[i] = own[i]! / 4 - x[pair * dimension + i]!;
    if (pair % 4 === 3) own.fill(0);
  }
  return { x, y };
}

/** Similarity of holographic reduced representations. */
export const hrrSimilarity: KernelSpec<Size> = {
  name: "hrr-similarity",
  description: "Cosine of each pair of vectors, 0 where one of them is zero",
  folder: new URL(".", import.meta.url),
  dimensions: [pairsDimension, vectorDimension],
  batchDimension: "pairs",
  dtypes: ["float32"],
  bindings: [
    { name: "x", access: "read", dtype: "float32", extents: (s) => [s.pairs, s.dimension], alignment: [1, 4] },
    { name: "y", access: "read", dtype: "float32", extents: (s) => [s.pairs, s.dimension], alignment: [1, 4] },
    { name: "cosines", access: "write", dtype: "float32", extents: ({ pairs }) => [pairs], alignment: [1] },
  ],
  variants: [pairPerLane, pairPerGroup],
  splitBy: "pairs",
  flops: ({ pairs, dimension }) => 6 * pairs * dimension,
  bytes: ({ pairs, dimension }) => 4 * pairs * (2 * dimension + 1),
  tolerance: {
    relative: 0,
    absolute: ({ dimension }) => 8 * Math.sqrt(dimension + 3) * 2 ** -24,
    reason:
      "rounding of three sums of d products in f32, λ·√d·u with λ = 8 (Higham and Mary, SIAM J. Sci. Comput. 2019), since Σ|x||y| is at most ‖x‖·‖y‖",
  },
  generate,
  reference: hrrSimilarityReference,
};
