import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

export type ConsensusConflictsSize = "sessions" | "proposals" | "rounds" | "proposers";

/**
 * roundConflict[session][round] = 1 where proposals for the round have different values, else 0;
 * proposerConflict[session][proposer] = 1 where proposals of the proposer have different ids. A round or
 * proposer outside of those there are counts nowhere. A proposal is (round, value, proposer, id).
 */
export function consensusConflictsReference(
  inputs: KernelArrays,
  { sessions, proposals: length, rounds, proposers }: KernelShape<ConsensusConflictsSize>,
): KernelReference {
  const { proposals } = inputs as { proposals: Int32Array };

  function describe(output: string, subjects: number, subjectField: number, valueField: number): KernelReference {
    let values: Map<number, Set<number>> | null = null;

    function collect(): Map<number, Set<number>> {
      const found = new Map<number, Set<number>>();
      for (let i = 0; i < sessions * length; i++) {
        const subject = proposals[4 * i + subjectField]!;
        if (subject < 0 || subject >= subjects) continue;
        const index = Math.floor(i / length) * subjects + subject;
        found.set(index, (found.get(index) ?? new Set()).add(proposals[4 * i + valueField]!));
      }
      return found;
    }

    return {
      output,
      length: sessions * subjects,
      elementFlops: 1,
      element: (index) => Number(((values ??= collect()).get(index)?.size ?? 0) > 1),
    };
  }

  return {
    ...describe("roundConflict", rounds, 0, 1),
    others: [describe("proposerConflict", proposers, 2, 3)],
  };
}
