import type { KernelShape, KernelSpec, KernelVariant } from "../kernel-spec.ts";
import { seededIntegers } from "../seeded-integers.ts";
import { coverItems, MAX_GROUPS } from "../webgpu-limits.ts";
import { type ConsensusConflictsSize, consensusConflictsReference } from "./consensus-conflicts.reference.ts";

/** Two words of workgroup memory each; a software device takes seconds to clear more of it. */
const MAX_SUBJECTS = 256;

/** Best on software devices: no barrier. */
const sessionPerLane: KernelVariant<ConsensusConflictsSize, "lanes"> = {
  name: "session-per-lane",
  file: "session-per-lane.wgsl",
  axes: [{ name: "lanes", values: [4, 16, 64], default: 16 }],
  passes: [{ entryPoint: "main", workgroups: ({ sessions }, { lanes }) => coverItems(sessions, lanes) }],
};

/** Neighbouring lanes read neighbouring proposals and meet in workgroup memory. */
const sessionPerGroup: KernelVariant<ConsensusConflictsSize, "lanes"> = {
  name: "session-per-group",
  file: "session-per-group.wgsl",
  axes: [{ name: "lanes", values: [4, 32, 64, 256], default: 64 }],
  constants: ({ rounds, proposers }: KernelShape<ConsensusConflictsSize>) => ({ rounds, proposers }),
  passes: [{ entryPoint: "main", workgroups: ({ sessions }) => [sessions, 1, 1] }],
};

/** Many sessions at once: rounds with different values, proposers with two ids. */
export const consensusConflicts: KernelSpec<ConsensusConflictsSize> = {
  name: "consensus-conflicts",
  description: "Conflicts among the proposals of many sessions: rounds with different values, proposers with two ids",
  folder: new URL(".", import.meta.url),
  dimensions: [
    { name: "sessions", description: "Sessions", min: 1, max: MAX_GROUPS, default: 1024 },
    { name: "proposals", description: "Proposals of each session", min: 1, max: 16_384, default: 256 },
    { name: "rounds", description: "Rounds of each session", min: 1, max: MAX_SUBJECTS, default: 64 },
    { name: "proposers", description: "Proposers of each session", min: 1, max: MAX_SUBJECTS, default: 64 },
  ],
  batchDimension: "sessions",
  dtypes: ["int32"],
  bindings: [
    {
      name: "proposals",
      access: "read",
      dtype: "int32",
      extents: ({ sessions, proposals }) => [sessions, proposals, 4],
      alignment: [1, 1, 1],
    },
    {
      name: "first",
      access: "scratch",
      dtype: "int32",
      extents: ({ sessions, rounds, proposers }) => [sessions, rounds + proposers],
      alignment: [1, 1],
    },
    {
      name: "roundConflict",
      access: "write",
      dtype: "int32",
      extents: ({ sessions, rounds }) => [sessions, rounds],
      alignment: [1, 1],
    },
    {
      name: "proposerConflict",
      access: "write",
      dtype: "int32",
      extents: ({ sessions, proposers }) => [sessions, proposers],
      alignment: [1, 1],
    },
  ],
  variants: [sessionPerLane, sessionPerGroup],
  splitBy: "sessions",
  flops: () => 0,
  bytes: ({ sessions, proposals, rounds, proposers }) => 4 * sessions * (4 * proposals + rounds + proposers),
  tolerance: { relative: 0, absolute: () => 0, reason: "integers" },
  generate: generateProposals,
  reference: consensusConflictsReference,
};

/** Mostly valid values of a round and ids of proposers; some are out of range. */
function generateProposals({ sessions, proposals: each, rounds, proposers }: KernelShape, seed: number) {
  const length = sessions! * each!;
  const round = seededIntegers(seed, 0, length, -1, rounds!);
  const proposer = seededIntegers(seed, 1, length, -1, proposers!);
  const slip = seededIntegers(seed, 2, length, 0, each!);
  const proposals = new Int32Array(4 * length);
  for (let i = 0; i < length; i++) {
    const [value, id] = [-7 * round[i]!, 3 * proposer[i]! - 100];
    proposals.set([round[i]!, value + Number(slip[i] === 0), proposer[i]!, id - Number(slip[i] === 1)], 4 * i);
  }
  return { proposals };
}
