import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { joinOutputs } from "../join-outputs.ts";
import { inputsOf } from "../kernel-at-shape.ts";
import type { StreamCase } from "../kernel-contest/kernel-case.ts";
import type { HostWork } from "./host-work.ts";
import { findLeaders, findConflicts, tallyVotes } from "./typed-consensus.ts";
import { evolve } from "./typed-evolution.ts";
import { measureCrowding, measureDiversity, rankFronts } from "./typed-fronts.ts";

const WORKS: Readonly<Record<string, HostWork>> = {
  "consensus-tally": tallyVotes,
  "consensus-leader": findLeaders,
  "consensus-conflicts": findConflicts,
  "evolution-step": evolve,
  "non-dominated-rank": rankFronts,
  "crowding-distance": measureCrowding,
  "pairwise-distance": measureDiversity,
};

/** Plain JavaScript on typed arrays, one thread, with the algorithm that suits a processor. */
export const contender: Contender<StreamCase> = async (input) => {
  const work = WORKS[input.kernel]?.(inputsOf(input), input.shape);
  if (work === undefined) throw new Error("nobody wrote it");
  const run = async (count: number): Promise<Float32Array> => {
    for (let i = 1; i < count; i++) work();
    return joinOutputs(work());
  };
  return createBatchEntry(run, input.runs, { adapter: null });
};
