import { CAUSES } from "../../../kernels/rollout/roll-out.reference.ts";
import type { EpisodeResults } from "../rollout/population.ts";

/** What the episodes of one generation say of its members. */
export interface MemberScores {
  /** Mean return; NaN of a member that failed in any episode. */
  readonly fitness: Float64Array;
  /** Mean behaviour: members × measures; NaN of a member that failed. */
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
