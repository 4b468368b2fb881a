import type { PolicyNetwork } from "../../src/protocol/models/policy-network.ts";
import { createDraws, type Draws } from "../../src/stats/random/draws.ts";
import { countStateWords, type EnvironmentSpec } from "../environments/environment-spec.ts";
import { applyConv } from "./conv.reference.ts";
import { openGraph } from "./graph.reference.ts";
import { applyDense } from "./dense.reference.ts";
import { layOutPolicy, spreadAction } from "./policy-layout.ts";

/** Draws of environments; see rollout.wgsl. */
export const ENVIRONMENT_STREAM = 1;

/**
 * Reasons why an episode ended, as bits. It failed where a weight of its member or an output is NaN or infinite. The
 * reward is NaN or infinite where that bit is set as well; such a reward is not counted.
 */
export const CAUSES = { terminated: 1, truncated: 2, failed: 4, reward: 8 } as const;

/** One episode as it went. `cause` holds bits of `CAUSES`. */
export interface EpisodeOutcome {
  readonly total: number;
  readonly length: number;
  readonly cause: number;
}

/** The source of the draws of a population's episodes. */
export interface EpisodeKey {
  readonly seed: number;
  readonly member: number;
  readonly episode: number;
  /** The same draws for the same episode of every member. */
  readonly commonRandom: boolean;
}

/** A state that an episode goes through. Its arrays are filled anew for the next one. */
export interface EpisodeMoment {
  readonly state: Float64Array;
  readonly observation: Float64Array;
  /** The policy's action in this state; null where the episode ended. */
  readonly action: Float64Array | null;
  /** Result of the step that led to this state. */
  readonly reward: number;
}

/** One episode of one member in f64: the reference of rollout.wgsl. `parameters` are that member's row. */
export function rollOut(...episode: Parameters<typeof walkEpisode>): EpisodeOutcome {
  const walk = walkEpisode(...episode);
  for (;;) {
    const { done, value } = walk.next();
    if (done === true) return value;
  }
}

/** The same, state by state. */
export function* walkEpisode(
  environment: EnvironmentSpec,
  network: PolicyNetwork,
  parameters: Float32Array,
  { seed, member, episode, commonRandom }: EpisodeKey,
): Generator<EpisodeMoment, EpisodeOutcome> {
  const { reference, observationSize, action, stepLimit } = environment;
  if (!parameters.every(Number.isFinite)) return { total: 0, length: 0, cause: CAUSES.failed };
  if (reference === undefined) throw new TypeError(`${environment.name} has no reference`);
  const drawsAt = (step: number): Draws =>
    createDraws({ seed, stream: ENVIRONMENT_STREAM, member: commonRandom ? 0 : member, episode, step });
  const policy = openPolicy(environment, network, parameters);
  const spread = spreadAction(network, action);
  const state = new Float64Array(countStateWords(environment));
  const observation = new Float64Array(observationSize);
  reference.reset(state, drawsAt(0));
  let total = 0;
  let brought = 0;
  for (let length = 1; ; length++) {
    reference.observe(state, observation);
    const outputs = policy(observation);
    if (!outputs.every(Number.isFinite)) {
      yield { state, observation, action: null, reward: brought };
      return { total, length: length - 1, cause: CAUSES.failed };
    }
    const chosen = Float64Array.from(
      action.kind === "discrete" ? [indexOfLargest(outputs)] : outputs.map((y) => spread.base + spread.spread * y),
    );
    yield { state, observation, action: chosen, reward: brought };
    const { reward, terminated } = reference.step(state, chosen, drawsAt(length));
    const isSound = Number.isFinite(Math.fround(total + reward));
    brought = isSound ? reward : 0;
    total += brought;
    const ended = (terminated ? CAUSES.terminated : 0) | (length >= stepLimit ? CAUSES.truncated : 0);
    const cause = isSound ? ended : CAUSES.failed | CAUSES.reward;
    if (cause === 0) continue;
    reference.observe(state, observation);
    yield { state, observation, action: null, reward: brought };
    return { total, length, cause };
  }
}

/** Outputs of one member for an observation. `parameters` are its row. */
function openPolicy(
  environment: EnvironmentSpec,
  network: PolicyNetwork,
  parameters: Float32Array,
): (observation: Float64Array) => Float64Array {
  if (network.kind === "graph") return openGraph(environment, network, parameters);
  if (network.kind === "direct") return () => Float64Array.from(parameters);
  const layers = layOutPolicy(network, environment);
  if (network.kind === "conv") return (observation) => applyConv(layers, parameters, observation);
  return (observation) => applyDense(layers, parameters, observation);
}

function indexOfLargest(outputs: Float64Array): number {
  return outputs.reduce((chosen, output, index) => (output > outputs[chosen]! ? index : chosen), 0);
}
