import { environmentNamed } from "../../kernels/environments/registry.ts";
import { openCpuPopulation } from "../../src/gpu-runner/rollout/cpu/open-cpu-population.ts";
import { openStrategy } from "../../src/gpu-runner/training/open-strategy.ts";
import type { Strategy } from "../../src/gpu-runner/training/strategy.ts";
import { NEW_TRAINING, trainPolicy } from "../../src/gpu-runner/training/train-policy.ts";
import { PolicyNetwork } from "../../src/protocol/models/policy-network.ts";
import { Algorithm } from "../../src/protocol/jobs/training.ts";
import { mean } from "../../src/stats/distribution/summary.ts";
import { createDraws } from "../../src/stats/random/draws.ts";

/** A training that is repeated with other seeds. */
export interface LearningCase {
  readonly environment: string;
  readonly network: object;
  readonly algorithm: object;
  readonly generations: number;
  readonly episodes: number;
  readonly everyGenerations: number;
  readonly stopAt?: number;
  /** Members get each other's fitness, so that nothing can be learnt. */
  readonly shuffled?: true;
}

/** Result of one seed. */
export interface Learnt {
  /** First generation whose mean over 100 fresh episodes reached the target; null: none did. */
  readonly solvedAt: number | null;
  /** Mean return of the best policy over 100 episodes that were not used for selection. */
  readonly fresh: number;
  /** Mean return of the policy at the end over 100 fresh episodes. */
  readonly last: number;
  readonly stepsPerSecond: number;
}

const JUDGED_EPISODES = 100;
const SHUFFLE_STREAM = 1_000;

/** Trains once, on all cores, as a job on `cpu-simd` does. */
export async function learn(chosen: LearningCase, seed: number): Promise<Learnt> {
  const environment = environmentNamed(chosen.environment);
  const network = PolicyNetwork.parse(chosen.network);
  const algorithm = Algorithm.parse(chosen.algorithm);
  const open = (members: number) => openCpuPopulation({ environment, network, members });
  const [population, judge] = [await open(algorithm.population), await open(1)];
  try {
    const opened = await openStrategy({ algorithm, environment, network, population, seed, saved: null });
    const strategy = chosen.shuffled === undefined ? opened : shuffleFitness(opened, seed);
    const { generations, episodes, everyGenerations, stopAt } = chosen;
    const plan = {
      generations,
      episodes,
      seed,
      evaluation: { everyGenerations, episodes: JUDGED_EPISODES },
      solvedAt: environment.scores.solvedAt,
      budgetMs: Number.POSITIVE_INFINITY,
      checkpointMs: Number.POSITIVE_INFINITY,
      ...(stopAt !== undefined && { stopAt }),
    };
    const { state, returns } = await trainPolicy(plan, { population, judge, strategy }, NEW_TRAINING, {
      signal: new AbortController().signal,
      nowMs: () => performance.now(),
      onGeneration: () => {},
      onCheckpoint: () => {},
    });
    const stepsPerSecond = (1_000 * state.steps) / state.elapsedMs;
    const last = state.curve.at(-1)!.fresh ?? Number.NaN;
    return { solvedAt: state.solvedAtGeneration, fresh: mean(returns), last, stepsPerSecond };
  } finally {
    await population.release();
    await judge.release();
  }
}

/**
 * The strategy with the members' fitness shuffled.
 * Source: Fisher and Yates.
 */
function shuffleFitness(strategy: Strategy, seed: number): Strategy {
  return {
    ...strategy,
    tell: ({ generation, fitness, ...rest }) => {
      const draws = createDraws({ seed, stream: SHUFFLE_STREAM, member: 0, episode: generation, step: 0 });
      const mixed = fitness.slice();
      for (let last = mixed.length - 1; last > 0; last--) {
        const other = draws.words()[0] % (last + 1);
        [mixed[last], mixed[other]] = [mixed[other]!, mixed[last]!];
      }
      return strategy.tell({ generation, fitness: mixed, ...rest });
    },
  };
}
