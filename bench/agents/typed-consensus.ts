import type { HostWork } from "./host-work.ts";

/** Votes per option and quorum of each ballot. */
export const tallyVotes: HostWork = (inputs, shape) => {
  const { votes, electorate, percent } = inputs as Record<"votes" | "electorate" | "percent", Int32Array>;
  const { ballots, voters, options } = shape as Record<"ballots" | "voters" | "options", number>;
  const words = Math.ceil(voters / 32);
  const tally = new Int32Array(ballots * options);
  const quorum = new Int32Array(ballots);
  return () => {
    tally.fill(0);
    for (let ballot = 0; ballot < ballots; ballot++) {
      const first = ballot * options;
      let eligible = 0;
      let counted = 0;
      for (let voter = 0; voter < voters; voter += 32) {
        const at = ballot * voters + voter;
        const length = Math.min(32, voters - voter);
        let word = electorate[ballot * words + (voter >>> 5)]!;
        for (let bit = 0; bit < length; bit++, word >>>= 1) {
          if ((word & 1) === 0) continue;
          eligible++;
          const option = votes[at + bit]!;
          if (option >>> 0 >= options) continue;
          counted++;
          tally[first + option]!++;
        }
      }
      quorum[ballot] = counted * 100 >= percent[ballot]! * eligible ? 1 : 0;
    }
    return [tally, quorum];
  };
};

/** The first of the highest scores of each election. */
export const findLeaders: HostWork = (inputs, shape) => {
  const { scores } = inputs as { scores: Int32Array };
  const { elections, candidates } = shape as Record<"elections" | "candidates", number>;
  const leader = new Int32Array(elections);
  return () => {
    for (let election = 0, first = 0; election < elections; election++, first += candidates) {
      let best = 0;
      let bestScore = scores[first]!;
      for (let candidate = 1; candidate < candidates; candidate++) {
        const score = scores[first + candidate]!;
        if (score <= bestScore) continue;
        best = candidate;
        bestScore = score;
      }
      leader[election] = best;
    }
    return [leader];
  };
};

/** Rounds with different values, and proposers with different ids, each compared with the first one seen. */
export const findConflicts: HostWork = (inputs, shape) => {
  const { proposals } = inputs as { proposals: Int32Array };
  const {
    sessions,
    proposals: length,
    rounds,
    proposers,
  } = shape as Record<"sessions" | "proposals" | "rounds" | "proposers", number>;
  const roundConflict = new Int32Array(sessions * rounds);
  const proposerConflict = new Int32Array(sessions * proposers);
  const firstOfRound = new Int32Array(rounds);
  const firstOfProposer = new Int32Array(proposers);
  return () => {
    roundConflict.fill(0);
    proposerConflict.fill(0);
    for (let session = 0; session < sessions; session++) {
      firstOfRound.fill(-1);
      firstOfProposer.fill(-1);
      for (let at = session * length * 4; at < (session + 1) * length * 4; at += 4) {
        const round = proposals[at]!;
        if (round >>> 0 < rounds) {
          const first = firstOfRound[round]!;
          if (first < 0) firstOfRound[round] = at;
          else if (proposals[first + 1] !== proposals[at + 1]) roundConflict[session * rounds + round] = 1;
        }
        const proposer = proposals[at + 2]!;
        if (proposer >>> 0 < proposers) {
          const first = firstOfProposer[proposer]!;
          if (first < 0) firstOfProposer[proposer] = at;
          else if (proposals[first + 3] !== proposals[at + 3]) proposerConflict[session * proposers + proposer] = 1;
        }
      }
    }
    return [roundConflict, proposerConflict];
  };
};
