import { benchAgents } from "./bench-agents.ts";

/** Tallies, leaders and conflicts of many ballots, elections and sessions at once. */
export const benchConsensus = benchAgents([
  {
    name: "tally 4096 × 256",
    input: { kernel: "consensus-tally", shape: { ballots: 4096, voters: 256, options: 8 }, mode: "stream", runs: 4 },
  },
  {
    name: "leader 65536 × 8",
    input: { kernel: "consensus-leader", shape: { elections: 65_536, candidates: 8 }, mode: "stream", runs: 8 },
  },
  {
    name: "conflicts 1024 × 256",
    input: {
      kernel: "consensus-conflicts",
      shape: { sessions: 1024, proposals: 256, rounds: 64, proposers: 64 },
      mode: "stream",
      runs: 4,
    },
  },
]);
