import {
  type BootstrapEstimate,
  type BootstrapPlan,
  countResamples,
  percentileBounds,
} from "../distribution/intervals.ts";
import { type EpisodeRows, layOutRows, poolScores, type TaskScores } from "./score-atoms.ts";
import { sfc32 } from "../random/seeded.ts";

/** The same task by two sides. */
export interface ComparedTask {
  readonly a: TaskScores;
  readonly b: TaskScores;
  /** The n-th episodes of both had the same draws. */
  readonly paired: boolean;
}

export interface ScoreComparison {
  /** Mean of b less that of a, averaged over the tasks. */
  readonly difference: BootstrapEstimate;
  /** The chance that a score of b is above one of a, ties half, averaged over the tasks. */
  readonly probabilityOfImprovement: BootstrapEstimate;
  readonly resamples: number;
}

interface Sides {
  readonly a: EpisodeRows;
  readonly b: EpisodeRows;
  readonly paired: boolean;
  readonly countsA: Float64Array;
  readonly countsB: Float64Array;
}

/**
 * Holds side b against side a, task by task. The probability of improvement of a task is U/(n·m) of Mann and Whitney
 * (1947), averaged over the tasks as Agarwal et al. do (NeurIPS 2021). Intervals are those of a stratified percentile
 * bootstrap over episodes; of a paired task both sides take the same episodes, so that what the draws have in common
 * is no part of the doubt. Throws a RangeError where a side has no scores, or a paired one has other episodes.
 */
export function compareScores(tasks: readonly ComparedTask[], plan: BootstrapPlan): ScoreComparison {
  if (tasks.length === 0) throw new RangeError("there are no tasks");
  const sides = tasks.map(open);
  const cost = sides.reduce((sum, { a, b, countsA }) => {
    return sum + 3 * countsA.length + a.episodes * a.cost + b.episodes * b.cost;
  }, 0);
  const resamples = countResamples(plan, cost);
  const draw = sfc32(plan.seed);
  const [differences, probabilities] = [new Float64Array(resamples), new Float64Array(resamples)];
  for (let index = 0; index < resamples; index++) {
    const sample = measure(sides, draw);
    differences[index] = sample.difference;
    probabilities[index] = sample.probability;
  }
  const whole = measure(sides, null);
  return {
    difference: { value: whole.difference, ...percentileBounds(differences) },
    probabilityOfImprovement: { value: whole.probability, ...percentileBounds(probabilities) },
    resamples,
  };
}

function open({ a, b, paired }: ComparedTask): Sides {
  if (a.scores.length === 0 || b.scores.length === 0) throw new RangeError("a side has no scores");
  if (paired && a.episodes !== b.episodes) throw new RangeError("paired sides have the same episodes");
  const { values, places } = poolScores([a, b]);
  const atoms = values.length;
  return {
    a: layOutRows(a, places[0]!, atoms),
    b: layOutRows(b, places[1]!, atoms),
    paired,
    countsA: new Float64Array(atoms),
    countsB: new Float64Array(atoms),
  };
}

/** One sample of every task; with no draw, all episodes once. */
function measure(
  sides: readonly Sides[],
  draw: ((below: number) => number) | null,
): { difference: number; probability: number } {
  let [difference, probability] = [0, 0];
  for (const { a, b, paired, countsA, countsB } of sides) {
    countsA.fill(0);
    countsB.fill(0);
    let [sumA, sumB] = [0, 0];
    for (let at = 0; at < a.episodes; at++) {
      const episode = draw?.(a.episodes) ?? at;
      a.addTo(countsA, episode);
      sumA += a.sums[episode]!;
      if (!paired) continue;
      b.addTo(countsB, episode);
      sumB += b.sums[episode]!;
    }
    for (let at = paired ? b.episodes : 0; at < b.episodes; at++) {
      const episode = draw?.(b.episodes) ?? at;
      b.addTo(countsB, episode);
      sumB += b.sums[episode]!;
    }
    difference += sumB / (b.episodes * b.members) - sumA / (a.episodes * a.members);
    probability += shareAbove(countsB, countsA);
  }
  return { difference: difference / sides.length, probability: probability / sides.length };
}

/** U/(n·m): the share of pairs in which the first is above, ties half. */
function shareAbove(counts: Float64Array, others: Float64Array): number {
  let [u, below, n] = [0, 0, 0];
  for (let atom = 0; atom < counts.length; atom++) {
    u += counts[atom]! * (below + others[atom]! / 2);
    below += others[atom]!;
    n += counts[atom]!;
  }
  return u / (n * below);
}
