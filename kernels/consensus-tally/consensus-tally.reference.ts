import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/**
 * tally[ballot][option] = how many votes an option has, where a vote counts only if its voter's bit is set
 * in the electorate and it is for one of the options; quorum[ballot] = 1 where counted votes · 100 ≥
 * percent · eligible voters, else 0.
 */
export function consensusTallyReference(
  inputs: KernelArrays,
  { ballots, voters, options }: KernelShape<"ballots" | "voters" | "options">,
): KernelReference {
  const { votes, electorate, percent } = inputs as Record<"votes" | "electorate" | "percent", Int32Array>;
  const words = Math.ceil(voters / 32);
  let counts: { tally: Float64Array; quorum: Uint8Array } | null = null;

  function count() {
    const tally = new Float64Array(ballots * options);
    const quorum = new Uint8Array(ballots);
    for (let ballot = 0; ballot < ballots; ballot++) {
      let eligible = 0;
      let counted = 0;
      for (let voter = 0; voter < voters; voter++) {
        const word = electorate[ballot * words + Math.floor(voter / 32)]!;
        if (((word >>> (voter % 32)) & 1) === 0) continue;
        eligible++;
        const option = votes[ballot * voters + voter]!;
        if (option < 0 || option >= options) continue;
        counted++;
        tally[ballot * options + option]!++;
      }
      quorum[ballot] = Number(counted * 100 >= percent[ballot]! * eligible);
    }
    return { tally, quorum };
  }

  const result = () => (counts ??= count());
  const quorum = {
    output: "quorum",
    length: ballots,
    elementFlops: 1,
    element: (ballot: number) => result().quorum[ballot]!,
  };
  return {
    output: "tally",
    length: ballots * options,
    elementFlops: 1,
    element: (index) => result().tally[index]!,
    others: [quorum],
  };
}
