import type { KernelShape, KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededIntegers } from "../seeded-integers.ts";
import { seededWords } from "../seeded-words.ts";
import { coverItems, MAX_GROUPS } from "../webgpu-limits.ts";
import { consensusTallyReference } from "./consensus-tally.reference.ts";

type Size = "ballots" | "voters" | "options";

/** Best on software devices: no barrier. */
const ballotPerLane: KernelVariant<Size, "lanes"> = {
  name: "ballot-per-lane",
  file: "ballot-per-lane.wgsl",
  axes: [{ name: "lanes", values: [4, 16, 64], default: 16 }],
  passes: [{ entryPoint: "main", workgroups: ({ ballots }, { lanes }) => coverItems(ballots, lanes) }],
};

/** Neighbouring lanes read neighbouring votes, and count in workgroup memory. */
const ballotPerGroup: KernelVariant<Size, "lanes"> = {
  name: "ballot-per-group",
  file: "ballot-per-group.wgsl",
  axes: [{ name: "lanes", values: [4, 32, 64, 256], default: 64 }],
  constants: ({ options }: KernelShape<Size>) => ({ options }),
  passes: [{ entryPoint: "main", workgroups: ({ ballots }) => [ballots, 1, 1] }],
};

/** Many ballots at once: votes per option, and whether enough of the electorate has voted. */
export const consensusTally: KernelSpec<Size> = {
  name: "consensus-tally",
  description: "Votes per option of many ballots, and whether each has its quorum; only the electorate's votes count",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "ballots", description: "Ballots", min: 1, max: MAX_GROUPS, default: 4096 },
    { name: "voters", description: "Voters of each ballot", min: 1, max: 16_384, default: 256 },
    { name: "options", description: "Options of each ballot", min: 1, max: 256, default: 8 },
  ],
  batchDimension: "ballots",
  dtypes: ["int32"],
  bindings: [
    {
      name: "votes",
      access: "read",
      dtype: "int32",
      extents: ({ ballots, voters }) => [ballots, voters],
      alignment: [1, 1],
    },
    {
      name: "electorate",
      access: "read",
      dtype: "int32",
      extents: ({ ballots, voters }) => [ballots, Math.ceil(voters / 32)],
      alignment: [1, 1],
    },
    { name: "percent", access: "read", dtype: "int32", extents: ({ ballots }) => [ballots], alignment: [1] },
    {
      name: "tally",
      access: "write",
      dtype: "int32",
      extents: ({ ballots, options }) => [ballots, options],
      alignment: [1, 1],
    },
    { name: "quorum", access: "write", dtype: "int32", extents: ({ ballots }) => [ballots], alignment: [1] },
  ],
  variants: [ballotPerLane, ballotPerGroup],
  splitBy: "ballots",
  flops: () => 0,
  bytes: ({ ballots, voters, options }) => 4 * ballots * (voters + Math.ceil(voters / 32) + options + 2),
  tolerance: { relative: 0, absolute: () => 0, reason: "integers" },
  // Votes include one option below and one above the valid ones. Bits beyond the last voter may be set.
  generate: ({ ballots, voters, options }, seed) => ({
    votes: seededIntegers(seed, 0, ballots * voters, -1, options),
    electorate: seededWords(seed, 1, ballots * Math.ceil(voters / 32)),
    percent: seededIntegers(seed, 2, ballots, 0, 100),
  }),
  reference: consensusTallyReference,
};
