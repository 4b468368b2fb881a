import type { KernelSpec } from "../kernel-spec.ts";
import { seededUniform } from "../seeded-uniform.ts";
import { pairwiseDistanceReference } from "./pairwise-distance.reference.ts";

type Size = "members" | "genes";

const MAX_SHARES = 16;

/** How different the members of a population are. */
export const pairwiseDistance: KernelSpec<Size> = {
  name: "pairwise-distance",
  description: "Diversity of a population: mean Euclidean distance over all pairs of members",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "members", description: "Members of the population", min: 1, max: 1024, default: 512 },
    { name: "genes", description: "Genes of each member", min: 1, max: 1024, default: 128 },
  ],
  dtypes: ["float32"],
  bindings: [
    {
      name: "population",
      access: "read",
      dtype: "float32",
      extents: ({ members, genes }) => [members, genes],
      alignment: [1, 4],
    },
    {
      name: "partial",
      access: "scratch",
      dtype: "float32",
      extents: ({ members }) => [MAX_SHARES, members],
      alignment: [1, 1],
    },
    { name: "diversity", access: "write", dtype: "float32", extents: () => [1], alignment: [1] },
  ],
  variants: [
    {
      name: "member-per-lane",
      file: "pairwise-distance.wgsl",
      axes: [
        { name: "lanes", values: [4, 16, 64, 256], default: 16 },
        { name: "shares", values: [1, 4, MAX_SHARES], default: 4 },
      ],
      passes: [
        {
          entryPoint: "sumShares",
          workgroups: ({ members }, { lanes, shares }) => [Math.ceil(members / lanes!), shares!, 1],
        },
        { entryPoint: "sumUp", workgroups: () => [1, 1, 1] },
      ],
    },
  ],
  flops: ({ members, genes }) => (members * (members - 1) * (3 * genes + 1)) / 2,
  bytes: ({ members, genes }) => 4 * members * genes + 4,
  tolerance: {
    relative: 8 * 64 * 2 ** -24,
    absolute: () => 0,
    reason:
      "positive numbers, at most n = 4096 one after the other, summed in f32: λ·√n·u with λ = 8 (Higham and Mary, SIAM J. Sci. Comput. 2019)",
  },
  generate: ({ members, genes }, seed) => ({ population: seededUniform(seed, 0, members * genes) }),
  reference: pairwiseDistanceReference,
};
