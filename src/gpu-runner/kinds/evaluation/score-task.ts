import type { Scores } from "../../../protocol/wire/distribution.ts";
import { type ScoreEstimates, estimateScores } from "../../../stats/score/estimate-scores.ts";
import { mean } from "../../../stats/distribution/summary.ts";

/** Returns of members that did not fail, with the bounds for normalising them. */
export interface ScoreRequest {
  /** members × episodes. */
  readonly returns: Float32Array<ArrayBuffer>;
  readonly episodes: number;
  readonly worst: number;
  readonly best: number;
}

/** Default of rliable; profiles use fewer resamples. */
const RESAMPLES = 50_000;
const SEED = 1;
/** Arithmetic steps of one entrant's bootstrap: about a second. */
const WORK = 5e8;
const TAUS = Array.from({ length: 51 }, (_, index) => index / 50);

/** Statistics of one entrant in one environment; the mean is of raw returns, all others of normalised ones. */
export function scoreReturns({ returns, episodes, worst, best }: ScoreRequest): Scores {
  const spread = best - worst;
  const scores = Float64Array.from(returns, (value) => (value - worst) / spread);
  const found = estimateScores([{ scores, episodes }], TAUS, { seed: SEED, resamples: RESAMPLES, work: WORK });
  const toReturn = (score: number) => worst + spread * score;
  const [low, high] = [toReturn(found.mean.low), toReturn(found.mean.high)];
  const estimate = { value: mean(returns), low: Math.min(low, high), high: Math.max(low, high) };
  return { ...toScores(found), mean: estimate, seed: SEED };
}

function toScores({ iqm, median, optimalityGap, profile, resamples }: ScoreEstimates): Omit<Scores, "mean" | "seed"> {
  return { iqm, median, optimalityGap, profile: [...profile], resamples };
}
