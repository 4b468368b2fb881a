import { generateVectors, shorten, vectorDimension } from "../hrr-bind/hrr-vectors.ts";
import type { KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { coverItems, MAX_GROUPS } from "../webgpu-limits.ts";
import { type HrrSuperposeSize, hrrSuperposeReference } from "./hrr-superpose.reference.ts";

/** Best on software devices: no barrier. */
const groupPerLane: KernelVariant<HrrSuperposeSize, "lanes"> = {
  name: "group-per-lane",
  file: "group-per-lane.wgsl",
  axes: [{ name: "lanes", values: [4, 16, 64], default: 16 }],
  passes: [{ entryPoint: "main", workgroups: ({ groups }, { lanes }) => coverItems(groups, lanes) }],
};

/** The textbook's: lanes along the vectors. */
const groupPerGroup: KernelVariant<HrrSuperposeSize, "lanes"> = {
  name: "group-per-group",
  file: "group-per-group.wgsl",
  axes: [{ name: "lanes", values: [4, 32, 64, 256], default: 64 }],
  passes: [{ entryPoint: "main", workgroups: ({ groups }) => [groups, 1, 1] }],
};

/** Superposition of holographic reduced representations. */
export const hrrSuperpose: KernelSpec<HrrSuperposeSize> = {
  name: "hrr-superpose",
  description: "Sum of the vectors of each group, scaled to length 1; a sum of zero stays zero",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "groups", description: "Groups, each superposed by itself", min: 1, max: MAX_GROUPS, default: 64 },
    { name: "vectors", description: "Vectors of a group", min: 1, max: 4096, default: 8 },
    vectorDimension,
  ],
  batchDimension: "groups",
  dtypes: ["float32"],
  bindings: [
    {
      name: "x",
      access: "read",
      dtype: "float32",
      extents: ({ groups, vectors, dimension }) => [groups, vectors, dimension],
      alignment: [1, 1, 4],
    },
    { name: "y", access: "write", dtype: "float32", extents: (s) => [s.groups, s.dimension], alignment: [1, 4] },
  ],
  variants: [groupPerLane, groupPerGroup],
  splitBy: "groups",
  flops: ({ groups, vectors, dimension }) => groups * dimension * (vectors + 2),
  bytes: ({ groups, vectors, dimension }) => 4 * groups * dimension * (vectors + 1),
  tolerance: {
    relative: 0,
    absolute: ({ groups, vectors, dimension }) =>
      ((8 * (Math.sqrt(vectors) + Math.sqrt(dimension)) * 2 ** -24) / Math.sqrt(dimension)) *
      shorten(groups, dimension),
    reason:
      "rounding of sums of k values and of d squares in f32, each λ·√n·u with λ = 8 (Higham and Mary, SIAM J. Sci. Comput. 2019), of values of size 1/√d; the shortest of n random sums is about n^(1/d) times shorter than the others, but for d = 1, where generated sums do not cancel",
  },
  generate: ({ groups, vectors, dimension }, seed) => {
    const x = generateVectors(seed, 0, groups * vectors, dimension);
    // Of one value the sign is all, and no sum of a group comes near zero where its values have one sign.
    if (dimension === 1) x.forEach((value, i) => (x[i] = Math.abs(value) * (i % (2 * vectors) < vectors ? 1 : -1)));
    // The last of several groups is all zeros.
    if (groups > 1) x.fill(0, (groups - 1) * vectors * dimension);
    return { x };
  },
  reference: hrrSuperposeReference,
};
