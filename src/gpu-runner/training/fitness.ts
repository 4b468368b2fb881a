import { CAUSES } from "../../../kernels/rollout/roll-out.reference.ts";
import type { EpisodeResults } from "../rollout/population.ts";

/** Members from best to worst; equal ones by index, and failed ones (NaN) last. */
export function orderMembers(fitness: Float64Array): Uint32Array {
  return Uint32Array.from(fitness, (_, index) => index).toSorted((a, b) => compare(fitness, b, a) || a - b);
}

/**
 * Centred ranks: the worst member has −½, the best ½, and the sum is 0. Equal members share the mean of their ranks, so
 * that equal results teach nothing. Failed ones (NaN) are equal and below all others.
 * Source: Salimans et al., "Evolution strategies as a scalable alternative to reinforcement learning", 2017.
 */
export function centreRanks(fitness: Float64Array): Float64Array {
  const order = orderMembers(fitness).toReversed();
  const ranks = new Float64Array(fitness.length);
  for (let first = 0; first < order.length;) {
    let end = first + 1;
    while (end < order.length && compare(fitness, order[first]!, order[end]!) === 0) end++;
    const rank = fitness.length < 2 ? 0 : (first + end - 1) / 2 / (fitness.length - 1) - 0.5;
    for (const member of order.subarray(first, end)) ranks[member] = rank;
    first = end;
  }
  return ranks;
}

/** Negative where member a is worse than b; NaN is equal to NaN alone. */
function compare(fitness: Float64Array, a: number, b: number): number {
  const [left, right] = [fitness[a]!, fitness[b]!];
  if (Number.isNaN(left) || Number.isNaN(right)) return Number(Number.isNaN(right)) - Number(Number.isNaN(left));
  return left === right ? 0 : left < right ? -1 : 1;
}

/** Scores of the members from the episodes of one generation. */
export interface MemberScores {
  /** Mean return; NaN for a member that failed in any episode. */
  readonly fitness: Float64Array;
  /** Mean behaviour: members × measures; NaN for a member that failed. */
  readonly measures: Float64Array;
  /** Steps of all episodes. */
  readonly steps: number;
}

/** Means over each member's episodes. */
export function scoreMembers(results: EpisodeResults, members: number, episodes: number): MemberScores {
  const { returns, lengths, causes } = results;
  const width = results.measures.length / returns.length;
  const fitness = new Float64Array(members);
  const measures = new Float64Array(members * width);
  for (let member = 0; member < members; member++) {
    for (let slot = member * episodes; slot < (member + 1) * episodes; slot++) {
      const failed = (causes[slot]! & CAUSES.failed) !== 0 || !Number.isFinite(returns[slot]!);
      fitness[member]! += failed ? Number.NaN : returns[slot]! / episodes;
      for (let index = 0; index < width; index++) {
        measures[member * width + index]! += failed ? Number.NaN : results.measures[slot * width + index]! / episodes;
      }
    }
  }
  return { fitness, measures, steps: lengths.reduce((sum, length) => sum + length, 0) };
}
