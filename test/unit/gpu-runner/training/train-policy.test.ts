import { describe, expect, it } from "vitest";
import { cartpole } from "../../../../kernels/environments/cartpole/cartpole.environment.ts";
import { decodeCheckpoint, encodeCheckpoint } from "../../../../src/gpu-runner/training/checkpoint-file.ts";
import { openStrategy } from "../../../../src/gpu-runner/training/open-strategy.ts";
import type { StrategyState } from "../../../../src/gpu-runner/training/strategy.ts";
import {
  NEW_TRAINING,
  trainPolicy,
  type TrainingPlan,
  type TrainingState,
} from "../../../../src/gpu-runner/training/train-policy.ts";
import type { PolicyNetwork } from "../../../../src/protocol/models/policy-network.ts";
import { Algorithm, type CurvePoint } from "../../../../src/protocol/jobs/training.ts";
import { createArrayPopulation, type Score } from "./array-population.ts";

const NETWORK: PolicyNetwork = { kind: "mlp", hidden: [], activation: "none", outputActivation: "none" };
const MEMBERS = 16;

const PLAN: TrainingPlan = {
  generations: 20,
  episodes: 4,
  evaluation: { everyGenerations: 5, episodes: 10 },
  seed: 3,
  solvedAt: null,
  budgetMs: Infinity,
  checkpointMs: Infinity,
};

/** A bowl whose height depends on the episode, too. */
const score: Score = (row, episode) => -row.reduce((sum, x) => sum + (x - 1) ** 2, 0) + Math.sin(episode);

interface Options {
  readonly plan?: Partial<TrainingPlan>;
  readonly algorithm?: string;
  readonly rate?: Score;
  readonly judged?: Score;
  readonly from?: TrainingState;
  readonly saved?: StrategyState;
  readonly signal?: AbortSignal;
  /** Time that passes between two readings of the clock. */
  readonly tickMs?: number;
}

async function train({ plan = {}, algorithm: name = "openes", rate = score, judged = rate, ...options }: Options) {
  const algorithm = Algorithm.parse({ name, population: MEMBERS });
  const members = createArrayPopulation(MEMBERS, 10, rate);
  const judge = createArrayPopulation(1, 10, judged);
  const strategy = await openStrategy({
    algorithm,
    environment: cartpole,
    network: NETWORK,
    population: members.population,
    seed: 3,
    saved: options.saved ?? null,
  });
  const points: CurvePoint[] = [];
  const checkpoints: { state: TrainingState; strategy: StrategyState }[] = [];
  let timeMs = 0;
  const outcome = await trainPolicy(
    { ...PLAN, ...plan },
    { population: members.population, judge: judge.population, strategy },
    options.from ?? NEW_TRAINING,
    {
      signal: options.signal ?? new AbortController().signal,
      nowMs: () => (timeMs += options.tickMs ?? 1),
      onGeneration: (point) => points.push(point),
      onCheckpoint: (state, saved) => checkpoints.push({ state, strategy: saved }),
    },
  );
  return { ...outcome, points, checkpoints, trained: members.plans, judged: judge.plans };
}

function episodesOf(plans: readonly { firstEpisode: number; episodes: number }[]): number[] {
  return plans.flatMap(({ firstEpisode, episodes }) => Array.from({ length: episodes }, (_, n) => firstEpisode + n));
}

describe("trainPolicy", () => {
  it("learns, judges every so many generations, and publishes what was judged best", async () => {
    const { state, points, returns } = await train({});
    expect(points.map(({ generation }) => generation)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    const fresh = points.filter((point) => point.fresh !== null);
    expect(fresh.map(({ generation }) => generation)).toEqual([5, 10, 15, 20]);
    expect(fresh.at(-1)!.fresh).toBeGreaterThan(fresh[0]!.fresh! + 1);
    const best = fresh.reduce((most, point) => (point.fresh! >= most.fresh! ? point : most));
    expect(state.best).toMatchObject({ generation: best.generation, mean: best.fresh });
    expect(returns.length).toBe(10);
    expect(state).toMatchObject({ generations: 20, steps: 20 * 4 * MEMBERS, evaluations: 20 * 4 * MEMBERS });
  });

  it("takes other episodes in every generation and judgement, and for the last evaluation", async () => {
    const { trained, judged } = await train({});
    const all = [...episodesOf(trained), ...episodesOf(judged)];
    expect(new Set(all).size).toBe(all.length);
    expect(all.every((episode) => episode < 2 ** 32)).toBe(true);
    // As an evaluation job with the same seed has them.
    expect(episodesOf(judged.slice(-1))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect([...trained, ...judged].every(({ commonRandom, seed }) => commonRandom && seed === 3)).toBe(true);
  });

  it("evaluates last by what chose nothing: luck in a judgement does not last", async () => {
    // A judgement of the fifth generation is lucky; episodes of evaluations are not.
    const judged: Score = (row, episode, member) =>
      score(row, episode, member) + (episode < 100 ? 0 : 1_000 - (episode % 1_000));
    const { state, returns } = await train({ judged });
    const mean = returns.reduce((sum, value) => sum + value, 0) / returns.length;
    expect(state.best.mean).toBeGreaterThan(100);
    expect(mean).toBeLessThan(20);
  });

  it("stops at its target", async () => {
    const { state } = await train({ plan: { stopAt: -9, generations: 500 } });
    expect(state.generations).toBeLessThan(500);
    expect(state.generations % 5).toBe(0);
    expect(state.solvedAtGeneration).toBe(state.generations);
    expect(state.best.mean).toBeGreaterThanOrEqual(-9);
  });

  it("reports when it reached the threshold for solved, and goes on", async () => {
    const { state } = await train({ plan: { solvedAt: -9, generations: 150 } });
    expect(state.solvedAtGeneration).toBeLessThan(150);
    expect(state.generations).toBe(150);
  });

  it("ends with what is there when its time is up, judged", async () => {
    const { state, points } = await train({ plan: { budgetMs: 100, generations: 1_000 }, tickMs: 10 });
    expect(state.generations).toBeGreaterThan(0);
    expect(state.generations).toBeLessThan(20);
    expect(points.length).toBe(state.generations);
    expect(state.curve.at(-1)!.fresh).not.toBeNull();
  });

  it("has one generation at least, however short the time", async () => {
    const { state } = await train({ plan: { budgetMs: 0 } });
    expect(state.generations).toBe(1);
  });

  it.each(["openes", "pgpe", "sep-cma-es"])(
    "goes on from a checkpoint's file to the same end: %s",
    async (algorithm) => {
      const whole = await train({ algorithm, plan: { checkpointMs: 0 } });
      const kept = whole.checkpoints[6]!;
      expect(kept.state.generations).toBe(7);
      const { state: from, strategy: saved } = decodeCheckpoint(encodeCheckpoint({ environmentDigest: "d", ...kept }));
      const resumed = await train({ algorithm, from, saved });
      const timeless = (state: TrainingState) => ({ ...state, elapsedMs: 0 });
      expect(timeless(resumed.state)).toEqual(timeless(whole.state));
      expect(resumed.returns).toEqual(whole.returns);
      expect(resumed.state.curve.length).toBe(20);
    },
  );

  it("counts the time of earlier lives", async () => {
    const first = await train({ plan: { checkpointMs: 0 }, tickMs: 10 });
    const { state: from, strategy: saved } = first.checkpoints[3]!;
    const { state } = await train({ from, saved, plan: { budgetMs: from.elapsedMs + 15 }, tickMs: 10 });
    expect(state.generations).toBeLessThanOrEqual(6);
    expect(state.elapsedMs).toBeGreaterThan(from.elapsedMs);
  });

  it("ends with a problem where every member of a generation failed", async () => {
    const rate: Score = () => Number.NaN;
    await expect(train({ rate })).rejects.toThrow("Every member of generation 1 failed");
  });

  it("leaves failed members out of the curve", async () => {
    const rate: Score = (row, episode, member) => (member % 3 === 0 ? Number.NaN : score(row, episode, member));
    const { points } = await train({ rate, judged: score });
    expect(points.every(({ best, mean }) => Number.isFinite(best) && Number.isFinite(mean))).toBe(true);
  });

  it("publishes no policy that fails", async () => {
    await expect(train({ judged: () => Number.NaN })).rejects.toThrow("No policy of this training");
  });
});
