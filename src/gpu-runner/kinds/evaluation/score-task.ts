import type { Scores } from "../../../protocol/wire/distribution.ts";
import { type ScoreEstimates, estimateScores } from "../../../stats/score/estimate-scores.ts";
import { mean } from "../../../stats/distribution/summary.ts";

/** Returns of members that did not fail, and what they are normalised by. */
export interface ScoreRequest {
  /** members × episodes. */
  readonly returns: Float32Array<ArrayBuffer>;
  readonly episodes: number;
  readonly worst: number;
  readonly best: number;
}

/** As rliable has them by default; of profiles fewer are drawn. */
const RESAMPLES = 50_000;
const SEED = 1;
/** Steps of arithmetic of one entrant's bootstrap: a second or so. */
const WORK = 5e8;
const TAUS = Array.from({ length: 51 }, (_, index) => index / 50);

/** Statistics of one entrant in one environment; the mean is of returns, all else of normalised ones. */
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
