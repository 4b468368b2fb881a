import {
  type BootstrapEstimate,
  type BootstrapPlan,
  countResamples,
  percentileBounds,
} from "../distribution/intervals.ts";
import { type EpisodeRows, layOutRows, poolScores, type TaskScores } from "./score-atoms.ts";
import { median } from "../distribution/summary.ts";
import { sfc32 } from "../random/seeded.ts";

/** Statistics of scores, each with its interval. */
export interface ScoreEstimates {
  readonly mean: BootstrapEstimate;
  readonly iqm: BootstrapEstimate;
  readonly median: BootstrapEstimate;
  readonly optimalityGap: BootstrapEstimate;
  /** Share of scores above each tau. */
  readonly profile: readonly (BootstrapEstimate & { readonly tau: number })[];
  /** Number of resamples for all but the profile. */
  readonly resamples: number;
}

/** A profile is drawn from fewer: it has many points, and they are only looked at. */
const PROFILE_RESAMPLES = 2_000;

/**
 * Statistics of scores over tasks as Agarwal et al. define them ("Deep reinforcement learning at the edge of the
 * statistical precipice", NeurIPS 2021): the interquartile mean of all scores together, with ⌊n/4⌋ cut at each end; the
 * median over tasks of their means, of one task that of its scores; the optimality gap 1 − mean(min(score, 1)); the
 * profile P(score > tau). Intervals are those of a stratified percentile bootstrap: within each task, episodes are
 * drawn with replacement, each with the scores of all its members, since members may share the draws of an episode.
 * Throws a RangeError where a task has no scores.
 */
export function estimateScores(
  tasks: readonly TaskScores[],
  taus: readonly number[],
  plan: BootstrapPlan,
): ScoreEstimates {
  if (tasks.length === 0 || tasks.some(({ scores }) => scores.length === 0))
    throw new RangeError("there are no scores");
  const { values, places } = poolScores(tasks);
  const rows = tasks.map((task, index) => layOutRows(task, places[index]!, values.length));
  const cost = values.length + rows.reduce((sum, row) => sum + row.episodes * row.cost, 0);
  const resamples = countResamples(plan, cost);
  const draw = sfc32(plan.seed);
  const counts = new Float64Array(values.length);
  const means = new Float64Array(rows.length);
  const found = Array.from({ length: STATISTICS.length }, () => new Float64Array(resamples));
  const profiles = taus.map(() => new Float64Array(Math.min(resamples, PROFILE_RESAMPLES)));
  for (let index = 0; index < resamples; index++) {
    count(rows, counts, means, draw);
    for (const [at, value] of measure(values, counts, means).entries()) found[at]![index] = value;
    if (index >= PROFILE_RESAMPLES) continue;
    for (const [at, share] of sharesAbove(values, counts, taus).entries()) profiles[at]![index] = share;
  }
  count(rows, counts, means, null);
  const whole = measure(values, counts, means);
  const [mean, iqm, middle, optimalityGap] = found.map((each, at) => ({
    value: whole[at]!,
    ...percentileBounds(each),
  }));
  const shares = sharesAbove(values, counts, taus);
  const profile = profiles.map((each, at) => ({ tau: taus[at]!, value: shares[at]!, ...percentileBounds(each) }));
  return { mean: mean!, iqm: iqm!, median: middle!, optimalityGap: optimalityGap!, profile, resamples };
}

/** Statistics of `measure`, in its order. */
const STATISTICS = ["mean", "iqm", "median", "optimalityGap"] as const;

/** Makes one sample: as many episodes of each task as it has, drawn; with no draw, each of them once. */
function count(
  rows: readonly EpisodeRows[],
  counts: Float64Array,
  means: Float64Array,
  draw: ((below: number) => number) | null,
): void {
  counts.fill(0);
  for (const [task, row] of rows.entries()) {
    let sum = 0;
    for (let at = 0; at < row.episodes; at++) {
      const episode = draw?.(row.episodes) ?? at;
      row.addTo(counts, episode);
      sum += row.sums[episode]!;
    }
    means[task] = sum / (row.episodes * row.members);
  }
}

function measure(values: Float64Array, counts: Float64Array, means: Float64Array): number[] {
  let [total, sum, capped] = [0, 0, 0];
  for (let atom = 0; atom < values.length; atom++) {
    const [value, n] = [values[atom]!, counts[atom]!];
    total += n;
    sum += n * value;
    capped += n * Math.min(value, 1);
  }
  const cut = Math.floor(total / 4);
  const middle = means.length === 1 ? middleOf(values, counts, total) : median(means);
  return [sum / total, meanBetween(values, counts, cut, total - cut), middle, 1 - capped / total];
}

/** Mean of the scores from one place to before another, of all in rising order. */
function meanBetween(values: Float64Array, counts: Float64Array, from: number, to: number): number {
  let [before, sum] = [0, 0];
  for (let atom = 0; atom < values.length && before < to; atom++) {
    const behind = before + counts[atom]!;
    const within = Math.min(behind, to) - Math.max(before, from);
    if (within > 0) sum += within * values[atom]!;
    before = behind;
  }
  return sum / (to - from);
}

function middleOf(values: Float64Array, counts: Float64Array, total: number): number {
  const first = Math.floor((total - 1) / 2);
  return meanBetween(values, counts, first, total - first);
}

function sharesAbove(values: Float64Array, counts: Float64Array, taus: readonly number[]): number[] {
  const total = counts.reduce((sum, n) => sum + n, 0);
  // From the highest tau down, so that one way through the values is enough.
  const order = taus.map((_, at) => at).toSorted((a, b) => taus[b]! - taus[a]!);
  const shares = taus.map(() => 0);
  let [atom, above] = [values.length - 1, 0];
  for (const at of order) {
    for (; atom >= 0 && values[atom]! > taus[at]!; atom--) above += counts[atom]!;
    shares[at] = above / total;
  }
  return shares;
}
