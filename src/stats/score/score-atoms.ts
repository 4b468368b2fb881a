/** Scores of one task, such as normalised returns in one environment: `members` rows of as many episodes. */
export interface TaskScores {
  /** members × episodes, the episodes of one member together. */
  readonly scores: Float64Array;
  readonly episodes: number;
}

/** The values that scores have, rising, and which of them each score is. */
export interface ScoreAtoms {
  readonly values: Float64Array;
  /** By task, in the order of its scores. */
  readonly places: readonly Uint32Array[];
}

/** Largest number of distinct scores; beyond it neighbours are grouped. */
const MOST_ATOMS = 16_384;
const BLOCKS = 4_096;

/**
 * Groups equal scores, so that a resample is a count for each value and its order statistics need no sorting. Above
 * 16,384 values, about 4,096 groups of neighbours with as many scores each are represented by their means.
 */
export function poolScores(tasks: readonly TaskScores[]): ScoreAtoms {
  const sorted = concat(tasks.map(({ scores }) => scores)).toSorted();
  const distinct = sorted.filter((value, index) => value !== sorted[index - 1]);
  if (distinct.length <= MOST_ATOMS) return { values: distinct, places: placesIn(distinct, tasks) };
  const size = Math.ceil(sorted.length / BLOCKS);
  const starts = sorted.filter((value, index) => index % size === 0 && (index === 0 || value !== sorted[index - size]));
  const places = placesIn(starts, tasks);
  const sums = new Float64Array(starts.length);
  const counts = new Float64Array(starts.length);
  for (const [task, { scores }] of tasks.entries()) {
    for (let at = 0; at < scores.length; at++) {
      const place = places[task]![at]!;
      sums[place]! += scores[at]!;
      counts[place]! += 1;
    }
  }
  return { values: sums.map((sum, place) => sum / counts[place]!), places };
}

function concat(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function placesIn(starts: Float64Array, tasks: readonly TaskScores[]): Uint32Array[] {
  return tasks.map(({ scores }) => Uint32Array.from(scores, (score) => lastAtMost(starts, score)));
}

/** The place of the last of the rising values that is at most this one. */
function lastAtMost(rising: Float64Array, value: number): number {
  let low = 0;
  let high = rising.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (rising[middle]! <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

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
