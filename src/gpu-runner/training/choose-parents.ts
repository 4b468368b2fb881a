import { createDraws, type Draws } from "../../stats/draws.ts";
import { multiplyHigh } from "../../stats/philox.ts";
import { orderMembers } from "./rank-fitness.ts";

/** Draws of tournaments. */
const TOURNAMENT_STREAM = 6;

/** What parents are chosen by. `fitness` is NaN of a member that failed. */
export interface Selection {
  readonly fitness: Float64Array;
  readonly seed: number;
  readonly generation: number;
  readonly elites: number;
  readonly tournament: number;
}

/**
 * Two parents for each member of a generation, one pair after the other. The first members have one of the fittest as
 * both, best first; every other has two, each the fittest of `tournament` members that are drawn with return. Of equals
 * the first is the fitter, and who failed is less fit than any other.
 */
export function chooseParents({ fitness, seed, generation, elites, tournament }: Selection): Uint32Array<ArrayBuffer> {
  const order = orderMembers(fitness);
  const ranks = new Uint32Array(order.length);
  for (const [rank, member] of order.entries()) ranks[member] = rank;
  const parents = new Uint32Array(2 * order.length);
  for (let child = 0; child < order.length; child++) {
    const draws = createDraws({ seed, stream: TOURNAMENT_STREAM, member: child, episode: generation, step: 0 });
    const [first, second] = child < elites ? [child, child] : holdTournaments(draws, ranks, tournament);
    parents.set([order[first]!, order[second]!], 2 * child);
  }
  return parents;
}

/** The best rank of each of two tournaments. */
function holdTournaments(draws: Draws, ranks: Uint32Array, tournament: number): readonly [number, number] {
  const best: [number, number] = [ranks.length - 1, ranks.length - 1];
  let words: readonly number[] = [];
  for (let draw = 0; draw < 2 * tournament; draw++) {
    if (draw % 4 === 0) words = draws.words();
    const parent = draw < tournament ? 0 : 1;
    best[parent] = Math.min(best[parent], ranks[multiplyHigh(words[draw % 4]!, ranks.length)]!);
  }
  return best;
}
