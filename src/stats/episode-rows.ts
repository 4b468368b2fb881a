import type { TaskScores } from "./score-atoms.ts";

/** The scores of one task, episode by episode, as a resample takes them: all members of an episode together. */
export interface EpisodeRows {
  readonly episodes: number;
  readonly members: number;
  /** Sum of an episode's scores over its members. */
  readonly sums: Float64Array;
  /** Steps of adding one episode. */
  readonly cost: number;
  /** Counts an episode's scores into `counts`, by their place among the atoms. */
  addTo(counts: Float64Array, episode: number): void;
}

/** Lays a task's scores out for resampling. Where members outnumber the atoms, an episode is its histogram. */
export function layOutRows({ scores, episodes }: TaskScores, places: Uint32Array, atoms: number): EpisodeRows {
  const members = scores.length / episodes;
  const sums = new Float64Array(episodes);
  for (let at = 0; at < scores.length; at++) sums[at % episodes]! += scores[at]!;
  const shared = { episodes, members, sums };
  if (members > atoms) {
    const histograms = new Float64Array(episodes * atoms);
    for (let at = 0; at < places.length; at++) histograms[(at % episodes) * atoms + places[at]!]! += 1;
    return {
      ...shared,
      cost: atoms,
      addTo(counts, episode) {
        for (let atom = 0, from = episode * atoms; atom < atoms; atom++) counts[atom]! += histograms[from + atom]!;
      },
    };
  }
  return {
    ...shared,
    cost: members,
    addTo(counts, episode) {
      for (let at = episode; at < places.length; at += episodes) counts[places[at]!]! += 1;
    },
  };
}
