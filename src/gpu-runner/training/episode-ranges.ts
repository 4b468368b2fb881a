/**
 * Where in the 2³² episodes of a seed each purpose takes its own, so that none sees another's: evaluations, as
 * `EvaluationSpec` asks for them, begin at 0, and so does the last one of a training, which chooses nothing.
 */
const JUDGEMENTS_FROM = 2 ** 30;
const TRAINING_FROM = 2 ** 31;

/** First episode of the last evaluation. */
export const LAST_EVALUATION_FROM = 0;

/** First of the episodes that the members of a generation learn by: others in each. */
export function trainingEpisode(generation: number, episodes: number): number {
  return TRAINING_FROM + generation * episodes;
}

/** First of the fresh episodes by which the policy so far is judged after so many generations; they come round again after 2³⁰. */
export function judgementEpisode(generations: number, episodes: number): number {
  const places = Math.floor((TRAINING_FROM - JUDGEMENTS_FROM) / episodes);
  return JUDGEMENTS_FROM + (generations % places) * episodes;
}
