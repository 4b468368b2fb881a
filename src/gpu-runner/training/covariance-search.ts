import type { StrategyState } from "./strategy.ts";

/** A normal distribution that members are drawn from, moved by the best of them. */
export interface CovarianceSearch {
  /** Makes the members of a generation. */
  ask(generation: number): Promise<void>;
  /** Moves towards members of the generation that was asked for last, the best first; there is at least one. */
  tell(generation: number, parents: Uint32Array): Promise<void>;
  /** Begins anew round another mean. */
  restart(mean: Float64Array): void;
  /** Whether steps have become too small, too large or too uneven to go on. */
  isSpent(): boolean;
  /** Copies. */
  save(): StrategyState;
}

/** Steps of a search, against the one that it began with, and variances against each other: beyond, it is spent. */
const SMALLEST_STEP = 1e-11;
const LARGEST_STEP = 1e4;
const LARGEST_CONDITION = 1e14;

/** Whether a search with this step size and these variances is spent (tolerances of Hansen's tutorial, 2016, B.3). */
export function areSpent(variances: Float64Array, sigma: number, startSigma: number): boolean {
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (const variance of variances) {
    least = Math.min(least, variance);
    most = Math.max(most, variance);
  }
  const step = (sigma * Math.sqrt(most)) / startSigma;
  return !(step > SMALLEST_STEP && step < LARGEST_STEP && most < LARGEST_CONDITION * least);
}
