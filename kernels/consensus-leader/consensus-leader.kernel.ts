import type { KernelSpec } from "../kernel-spec.ts";
import { seededIntegers } from "../seeded-integers.ts";
import { coverItems } from "../webgpu-limits.ts";
import { consensusLeaderReference } from "./consensus-leader.reference.ts";

/** Many elections at once. A tally of `consensus-tally` is such a table of scores. */
export const consensusLeader: KernelSpec<"elections" | "candidates"> = {
  name: "consensus-leader",
  description: "Leader of many elections: the candidate with the highest score, of equal ones the first",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "elections", description: "Elections", min: 1, max: 2 ** 18, default: 4096 },
    { name: "candidates", description: "Candidates of each election", min: 1, max: 1024, default: 8 },
  ],
  batchDimension: "elections",
  dtypes: ["int32"],
  bindings: [
    {
      name: "scores",
      access: "read",
      dtype: "int32",
      extents: ({ elections, candidates }) => [elections, candidates],
      alignment: [1, 1],
    },
    { name: "leader", access: "write", dtype: "int32", extents: ({ elections }) => [elections], alignment: [1] },
  ],
  variants: [
    {
      name: "election-per-lane",
      file: "consensus-leader.wgsl",
      axes: [{ name: "lanes", values: [4, 16, 64], default: 16 }],
      passes: [
        {
          entryPoint: "main",
          workgroups: ({ elections }, { lanes }) => coverItems(elections, lanes!),
        },
      ],
    },
  ],
  splitBy: "elections",
  flops: () => 0,
  bytes: ({ elections, candidates }) => 4 * elections * (candidates + 1),
  tolerance: { relative: 0, absolute: () => 0, reason: "integers" },
  // Few different scores, so that many elections have several leaders.
  generate: ({ elections, candidates }, seed) => ({
    scores: seededIntegers(seed, 0, elections * candidates, -5, 5),
  }),
  reference: consensusLeaderReference,
};
