import { benchAgents } from "./bench-agents.ts";

/** A generation, ranks and crowding of several objectives, and diversity. */
export const benchEvolution = benchAgents([
  {
    name: "step 1024 × 256",
    input: {
      kernel: "evolution-step",
      shape: { members: 1024, genes: 256, tournament: 4, elites: 16 },
      mode: "stream",
      runs: 2,
    },
  },
  {
    name: "step 4096 × 1024",
    input: {
      kernel: "evolution-step",
      shape: { members: 4096, genes: 1024, tournament: 4, elites: 16 },
      mode: "stream",
      runs: 1,
    },
  },
  {
    name: "rank 64 × 256 × 2",
    input: {
      kernel: "non-dominated-rank",
      shape: { populations: 64, members: 256, objectives: 2 },
      mode: "stream",
      runs: 2,
    },
  },
  {
    name: "rank 64 × 256 × 5",
    input: {
      kernel: "non-dominated-rank",
      shape: { populations: 64, members: 256, objectives: 5 },
      mode: "stream",
      runs: 2,
    },
  },
  {
    name: "crowding 64 × 256 × 2",
    input: {
      kernel: "crowding-distance",
      shape: { populations: 64, members: 256, objectives: 2 },
      mode: "stream",
      runs: 2,
    },
  },
  {
    name: "diversity 512 × 128",
    input: { kernel: "pairwise-distance", shape: { members: 512, genes: 128 }, mode: "stream", runs: 2 },
  },
]);
