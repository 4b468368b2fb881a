import { isTerminal, MAX_EPISODE_STEPS, resetCartPole, stepCartPole } from "./cartpole.ts";
import type { CartPoleAction, CartPoleState } from "./cartpole.ts";

/** Chooses a push from what is observed; one that runs elsewhere (ONNX Runtime) may answer later. */
export type Policy = (observation: CartPoleState) => CartPoleAction | Promise<CartPoleAction>;

/** One episode: 1 a step, so the return is its length. It can end for both reasons at once. */
export type EpisodeResult = { seed: number; return: number; terminated: boolean; truncated: boolean };

/** Runs one episode for every seed (u32), in their order; the policy sees the state as it is, in f64. */
export async function evaluatePolicy(policy: Policy, seeds: readonly number[]): Promise<EpisodeResult[]> {
  const results: EpisodeResult[] = [];
  for (const seed of seeds) results.push(await runEpisode(policy, seed));
  return results;
}

async function runEpisode(policy: Policy, seed: number): Promise<EpisodeResult> {
  let state = resetCartPole(seed);
  for (let steps = 1; ; steps++) {
    const choice = policy(state);
    // Awaiting a number that is there already costs more than the whole step.
    state = stepCartPole(state, typeof choice === "number" ? choice : await choice);
    const terminated = isTerminal(state);
    const truncated = steps === MAX_EPISODE_STEPS;
    if (terminated || truncated) return { seed, return: steps, terminated, truncated };
  }
}
