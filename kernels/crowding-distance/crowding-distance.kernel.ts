import type { KernelSpec } from "../kernel-spec.ts";
import { seededIntegers } from "../seeded-integers.ts";
import { type CrowdingSize, crowdingDistanceReference } from "./crowding-distance.reference.ts";

/** How alone each member of a front is, of many populations at once. */
export const crowdingDistance: KernelSpec<CrowdingSize> = {
  name: "crowding-distance",
  description: "How far apart each member's neighbours in its front are; the ends of a front have f32's largest number",
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
      name: "rank",
      access: "read",
      dtype: "int32",
      extents: ({ populations, members }) => [populations, members],
      alignment: [1, 1],
    },
    {
      name: "distance",
      access: "write",
      dtype: "float32",
      extents: ({ populations, members }) => [populations, members],
      alignment: [1, 1],
    },
  ],
  variants: [
    {
      name: "member-per-lane",
      file: "crowding-distance.wgsl",
      axes: [{ name: "lanes", values: [4, 16, 64, 256], default: 16 }],
      passes: [
        {
          entryPoint: "main",
          workgroups: ({ populations, members }, { lanes }) => [Math.ceil(members / lanes!), populations, 1],
        },
      ],
    },
  ],
  splitBy: "populations",
  flops: () => 0,
  bytes: ({ populations, members, objectives }) => 4 * populations * members * (objectives + 2),
  tolerance: {
    relative: 2 ** -20,
    absolute: () => 0,
    reason:
      "two differences, a quotient of 2.5 ulp (WGSL, accuracy of expressions) and sixteen sums of positive numbers",
  },
  // In few steps, so that there are equals.
  generate: ({ populations, members, objectives }, seed) => ({
    objectives: Float32Array.from(
      seededIntegers(seed, 0, populations * members * objectives, -500, 500),
      (value) => value / 8,
    ),
    rank: seededIntegers(seed, 1, populations * members, 0, 4),
  }),
  reference: crowdingDistanceReference,
};
