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
    const conflicts: Uint8Array[] = [];

    function findConflicts(session: number): Uint8Array {
      const first = new Int32Array(subjects);
      const [isKnown, found] = [new Uint8Array(subjects), new Uint8Array(subjects)];
      for (let i = session * length; i < (session + 1) * length; i++) {
        const [subject, value] = [proposals[4 * i + subjectField]!, proposals[4 * i + valueField]!];
        if (subject < 0 || subject >= subjects) continue;
        if (isKnown[subject] === 1 && first[subject] !== value) found[subject] = 1;
        isKnown[subject] = 1;
        first[subject] = value;
      }
      return found;
    }

    return {
      output,
      length: sessions * subjects,
      elementFlops: 10 * length,
      element: (index) => {
        const session = Math.floor(index / subjects);
        return (conflicts[session] ??= findConflicts(session))[index % subjects]!;
      },
    };
  }

  return {
    ...describe("roundConflict", rounds, 0, 1),
    others: [describe("proposerConflict", proposers, 2, 3)],
  };
}
