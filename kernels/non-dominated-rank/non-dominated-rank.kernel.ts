import type { KernelSpec } from "../kernel-spec.ts";
import { seededIntegers } from "../seeded-integers.ts";
import { nonDominatedRankReference, type RankSize } from "./non-dominated-rank.reference.ts";

/** Ranks for selection by several objectives, of many populations at once. */
export const nonDominatedRank: KernelSpec<RankSize> = {
  name: "non-dominated-rank",
  description: "Fronts of populations with several objectives: rank 0 is dominated by nobody; larger is better",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "populations", description: "Populations", min: 1, max: 16_384, default: 64 },
    { name: "members", description: "Members of each population", min: 1, max: 1024, default: 256 },
    { name: "objectives", description: "Objectives of each member", min: 1, max: 16, default: 2 },
  ],
  batchDimension: "populations",
  dtypes: ["float32"],
  bindings: [
    {
      name: "objectives",
      access: "read",
      dtype: "float32",
      extents: ({ populations, members, objectives }) => [populations, members, objectives],
      alignment: [1, 1, 1],
    },
    {
      name: "dominators",
      access: "scratch",
      dtype: "int32",
      extents: ({ populations, members }) => [populations, members],
      alignment: [1, 1],
    },
    {
      name: "front",
      access: "scratch",
      dtype: "int32",
      extents: ({ populations, members }) => [populations, members],
      alignment: [1, 1],
    },
    {
      name: "rank",
      access: "write",
      dtype: "int32",
      extents: ({ populations, members }) => [populations, members],
      alignment: [1, 1],
    },
  ],
  variants: [
    {
      name: "population-per-group",
      file: "non-dominated-rank.wgsl",
      axes: [{ name: "lanes", values: [4, 32, 64, 256], default: 32 }],
      passes: [
        {
          entryPoint: "countDominators",
          workgroups: ({ populations, members }, { lanes }) => [Math.ceil(members / lanes!), populations, 1],
        },
        { entryPoint: "peel", workgroups: ({ populations }) => [populations, 1, 1] },
      ],
    },
  ],
  splitBy: "populations",
  flops: () => 0,
  bytes: ({ populations, members, objectives }) => 4 * populations * members * (objectives + 1),
  tolerance: { relative: 0, absolute: () => 0, reason: "integers, of exact comparisons" },
  // In few steps, so that there are equals.
  generate: ({ populations, members, objectives }, seed) => ({
    objectives: Float32Array.from(
      seededIntegers(seed, 0, populations * members * objectives, -50, 50),
      (value) => value / 8,
    ),
  }),
  reference: nonDominatedRankReference,
};
