import type { CurvePoint, TrainingSpec } from "../../protocol/jobs/training.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { meanInterval } from "../../stats/distribution/intervals.ts";
import type { Population } from "../rollout/population.ts";
import { scoreMembers } from "./fitness.ts";
import type { LeftFile, Strategy, StrategyState } from "./strategy.ts";

/**
 * Ranges of the 2³² episodes of a seed, so that no purpose sees another's. Evaluations, as `EvaluationSpec` requests
 * them, begin at 0, and so does the last one of a training, which makes no choice.
 */
const JUDGEMENTS_FROM = 2 ** 30;
const TRAINING_FROM = 2 ** 31;

/** First episode of the last evaluation. */
const LAST_EVALUATION_FROM = 0;

/** First training episode of a generation's members; each generation has others. */
function trainingEpisode(generation: number, episodes: number): number {
  return TRAINING_FROM + generation * episodes;
}

/**
 * First fresh episode for a judgement of the current policy after this many generations; the numbers repeat after 2³⁰.
 */
function judgementEpisode(generations: number, episodes: number): number {
  const places = Math.floor((TRAINING_FROM - JUDGEMENTS_FROM) / episodes);
  return JUDGEMENTS_FROM + (generations % places) * episodes;
}

/**
 * Curve with one more generation, and at most `most` points. A longer training keeps the last of every 2, 4, 8, …
 * generations, with their latest judgement.
 */
export function addToCurve(curve: readonly CurvePoint[], point: CurvePoint, most: number): CurvePoint[] {
  const stride = strideOf(point.generation, most);
  const all = [...curve, point];
  const bucketOf = ({ generation }: CurvePoint) => Math.floor((generation - 1) / stride);
  return all.flatMap((candidate, index) => {
    const next = all[index + 1];
    if (next !== undefined && bucketOf(next) === bucketOf(candidate)) return [];
    if (candidate.fresh !== null) return [candidate];
    const judged = all.slice(0, index).findLast(({ fresh }) => fresh !== null);
    const isOwn = judged !== undefined && bucketOf(judged) === bucketOf(candidate);
    if (!isOwn) return [candidate];
    const { fresh, freshInterval } = judged;
    return [{ ...candidate, fresh, ...(freshInterval && { freshInterval }) }];
  });
}

/** Generations per point. */
function strideOf(generations: number, most: number): number {
  let stride = 1;
  while (Math.ceil(generations / stride) > most) stride *= 2;
  return stride;
}

/** Part of a spec that determines a training. */
export type TrainingPlan = Pick<TrainingSpec, "generations" | "episodes" | "stopAt" | "evaluation" | "seed"> & {
  /** Fresh mean that counts as solved, where there is one. */
  readonly solvedAt: number | null;
  /** Time limit of the training, over all its runs. */
  readonly budgetMs: number;
  readonly checkpointMs: number;
};

/** Populations of a training. */
export interface TrainingStage {
  /** Population of all members, moved by the strategy. */
  readonly population: Population;
  /** Population of one member in the same environment, for judgements. */
  readonly judge: Population;
  readonly strategy: Strategy;
}

/** State of a training between two generations, as a checkpoint holds it. */
export interface TrainingState {
  /** Completed generations. */
  readonly generations: number;
  readonly steps: number;
  readonly evaluations: number;
  readonly elapsedMs: number;
  readonly solvedAtGeneration: number | null;
  readonly curve: readonly CurvePoint[];
  /** Best judged policy so far. */
  readonly best: JudgedPolicy | null;
}

export interface JudgedPolicy {
  readonly generation: number;
  readonly mean: number;
  readonly policy: Float32Array<ArrayBuffer>;
}

/** Progress, checkpoints and cancellation of a training. */
export interface TrainingWatch {
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
  readonly onGeneration: (point: CurvePoint) => void;
  /** Receives a copy. It runs within the training, so it must be quick. */
  readonly onCheckpoint: (state: TrainingState, strategy: StrategyState) => void;
}

/** Outcome of a training. */
export interface TrainingOutcome {
  readonly state: TrainingState & { readonly best: JudgedPolicy };
  /** Returns of the best policy in episodes that were not used for any choice. */
  readonly returns: Float32Array<ArrayBuffer>;
  readonly files: readonly LeftFile[];
}

export const NEW_TRAINING: TrainingState = {
  generations: 0,
  steps: 0,
  evaluations: 0,
  elapsedMs: 0,
  solvedAtGeneration: null,
  curve: [],
  best: null,
};

/**
 * Trains from a state until the generations, the time or the target end it. Evaluates the best policy on episodes that
 * neither trained nor chose it. With the same plan, device and state the result is identical to the bit, unless the
 * time ends it. Throws `cancelled`, and `backend-failed` where every member of a generation failed.
 */
export async function trainPolicy(
  plan: TrainingPlan,
  stage: TrainingStage,
  from: TrainingState,
  watch: TrainingWatch,
): Promise<TrainingOutcome> {
  const startedMs = watch.nowMs() - from.elapsedMs;
  let state = from;
  let keptMs = watch.nowMs();
  while (!hasEnded(plan, state)) {
    state = await trainGeneration(plan, stage, state, watch);
    if (isJudged(plan, state.generations)) state = await judgePolicy(plan, stage, state, watch);
    state = { ...state, elapsedMs: watch.nowMs() - startedMs };
    watch.onGeneration(state.curve.at(-1)!);
    if (watch.nowMs() - keptMs >= plan.checkpointMs && !hasEnded(plan, state)) {
      watch.onCheckpoint(state, await stage.strategy.save());
      keptMs = watch.nowMs();
    }
  }
  if (!isJudged(plan, state.generations)) state = await judgePolicy(plan, stage, state, watch);
  const { best } = state;
  if (best === null) throw new ProblemError("backend-failed", "No policy of this training went through its episodes.");
  const last = await evaluateOne(stage.judge, best.policy, plan, LAST_EVALUATION_FROM, watch);
  const files = (await stage.strategy.leave?.()) ?? [];
  return { state: { ...state, best }, returns: last.returns, files };
}

function hasEnded({ generations, stopAt, budgetMs }: TrainingPlan, state: TrainingState): boolean {
  const isGoodEnough = stopAt !== undefined && state.best !== null && state.best.mean >= stopAt;
  return isGoodEnough || state.generations >= generations || (state.generations > 0 && state.elapsedMs >= budgetMs);
}

/** Whether the policy is judged after this many generations, apart from the end of time. */
function isJudged({ generations, evaluation }: TrainingPlan, done: number): boolean {
  return done === generations || done % evaluation.everyGenerations === 0;
}

async function trainGeneration(
  { seed, episodes }: TrainingPlan,
  { population, strategy }: TrainingStage,
  state: TrainingState,
  { signal }: TrainingWatch,
): Promise<TrainingState> {
  const generation = state.generations;
  await strategy.ask(generation);
  const firstEpisode = trainingEpisode(generation, episodes);
  const results = await population.evaluate({ seed, firstEpisode, episodes, commonRandom: true }, { signal });
  const { fitness, measures, steps } = scoreMembers(results, population.members, episodes);
  const sound = fitness.filter((value) => !Number.isNaN(value));
  if (sound.length === 0) {
    throw new ProblemError("backend-failed", `Every member of generation ${generation + 1} failed.`);
  }
  await strategy.tell({ generation, fitness, measures });
  const census = strategy.takeCensus?.();
  const point = {
    generation: generation + 1,
    steps: state.steps + steps,
    best: sound.reduce((most, value) => Math.max(most, value)),
    mean: sound.reduce((sum, value) => sum + value, 0) / sound.length,
    fresh: null,
    ...(census && { species: census }),
  };
  return {
    ...state,
    generations: generation + 1,
    steps: point.steps,
    evaluations: state.evaluations + population.members * episodes,
    curve: addToCurve(state.curve, point, LIMITS.curvePoints),
  };
}

/**
 * Judges the current policy on fresh episodes, and keeps it where it is the best; of equal ones the later. A failed one
 * is ignored.
 */
async function judgePolicy(
  plan: TrainingPlan,
  { judge, strategy }: TrainingStage,
  state: TrainingState,
  watch: TrainingWatch,
): Promise<TrainingState> {
  const { generations, best } = state;
  const policy = await strategy.policy();
  const firstEpisode = judgementEpisode(generations, plan.evaluation.episodes);
  const { mean, returns } = await evaluateOne(judge, policy, plan, firstEpisode, watch);
  if (Number.isNaN(mean)) return state;
  const target = plan.stopAt ?? plan.solvedAt;
  const isSolved = target !== null && mean >= target;
  const { low, high } = meanInterval(returns);
  return {
    ...state,
    solvedAtGeneration: state.solvedAtGeneration ?? (isSolved ? generations : null),
    curve: [...state.curve.slice(0, -1), { ...state.curve.at(-1)!, fresh: mean, freshInterval: { low, high } }],
    best: best !== null && mean < best.mean ? best : { generation: generations, mean, policy },
  };
}

/** Evaluates one policy in the plan's episodes from the first on; the mean is NaN where it fails. */
async function evaluateOne(
  judge: Population,
  policy: Float32Array<ArrayBuffer>,
  { seed, evaluation: { episodes } }: TrainingPlan,
  firstEpisode: number,
  { signal }: TrainingWatch,
): Promise<{ mean: number; returns: Float32Array<ArrayBuffer> }> {
  await judge.write(0, policy);
  const results = await judge.evaluate({ seed, firstEpisode, episodes, commonRandom: true }, { signal });
  return { mean: scoreMembers(results, 1, episodes).fitness[0]!, returns: results.returns };
}
