import { MAX_EPISODE_STEPS, SOLVED_RETURN } from "./cartpole.ts";
import { episodeSeeds } from "./episode-seeds.ts";
import { evaluatePolicy } from "./evaluate.ts";
import type { Policy } from "./evaluate.ts";
import { MLP_PARAMETERS, mlpPolicy } from "./mlp-policy.ts";
import { sampleOpenEs, startOpenEs, updateOpenEs } from "./open-es.ts";
import type { OpenEsSettings } from "./open-es.ts";

/** Training stops when every fresh episode lasts to the limit; "solved" (475) still drops the pole in some. */
export const STOP_RETURN = MAX_EPISODE_STEPS;
export const EPISODES_PER_MEMBER = 16;
export const SELECTION_EPISODES = 100;
const MAX_GENERATIONS = 400;

/** One generation: mean return of its members on the shared episodes, and of the moved centre on fresh ones. */
export type Generation = { generation: number; members: number; best: number; centre: number };

export type TrainedPolicy = {
  /** [MLP_PARAMETERS] */
  parameters: Float64Array;
  generations: number;
  /** The first generation whose centre reached SOLVED_RETURN. */
  solvedAtGeneration: number;
  /** Environment steps taken by the members, without those of the checks. */
  memberSteps: number;
};

/**
 * Searches the 4-16-2 network with OpenES until its centre holds the pole over 100 fresh episodes.
 *
 * @throws Error when MAX_GENERATIONS do not suffice.
 */
export async function trainPolicy(
  settings: OpenEsSettings,
  onGeneration: (generation: Generation) => void,
): Promise<TrainedPolicy> {
  let search = startOpenEs(MLP_PARAMETERS);
  let solvedAtGeneration = 0;
  let memberSteps = 0;
  while (search.generation < MAX_GENERATIONS) {
    // The same episodes for all members: what is left between two of them is the policy, not luck.
    const seeds = episodeSeeds("training", EPISODES_PER_MEMBER, search.generation * EPISODES_PER_MEMBER);
    const fitness: number[] = [];
    for (const member of sampleOpenEs(search, settings)) fitness.push(await meanReturn(mlpPolicy(member), seeds));
    search = updateOpenEs(search, fitness, settings);

    const { generation, centre: parameters } = search;
    const fresh = episodeSeeds("selection", SELECTION_EPISODES, generation * SELECTION_EPISODES);
    const centre = await meanReturn(mlpPolicy(parameters), fresh);
    const total = fitness.reduce((sum, value) => sum + value, 0);
    memberSteps += total * EPISODES_PER_MEMBER;
    onGeneration({ generation, members: total / fitness.length, best: Math.max(...fitness), centre });
    if (centre >= SOLVED_RETURN) solvedAtGeneration ||= generation;
    if (centre >= STOP_RETURN) return { parameters, generations: generation, solvedAtGeneration, memberSteps };
  }
  throw new Error(`not held after ${MAX_GENERATIONS} generations`);
}

async function meanReturn(policy: Policy, seeds: readonly number[]): Promise<number> {
  const results = await evaluatePolicy(policy, seeds);
  return results.reduce((sum, result) => sum + result.return, 0) / results.length;
}
