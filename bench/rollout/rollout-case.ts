import type { EnvironmentSpec } from "../../kernels/environments/environment-spec.ts";
import { environmentNamed } from "../../kernels/environments/registry.ts";
import { applyDense } from "../../kernels/rollout/dense.reference.ts";
import type { EpisodeOutcome } from "../../kernels/rollout/roll-out.reference.ts";
import { layOutPolicy, spreadAction } from "../../kernels/rollout/policy-layout.ts";
import type { LayeredNetwork } from "../../src/protocol/models/policy-network.ts";
import { compareEpisodes, type Episodes } from "../../src/gpu-runner/environments/compare-episodes.ts";
import { createDraws } from "../../src/stats/random/draws.ts";

/** Rollout of a case, the same for every contender. */
export interface RolloutCase {
  readonly environment: string;
  readonly members: number;
  /**
   * Episodes of each member, one after the other, for contenders that run whole episodes instead of steps of all
   * members.
   */
  readonly episodes: number;
  /** File of f32: a row for each member in the layout of policy-layout.ts. */
  readonly weightsFile: string;
}

export const HIDDEN = 32;

/** One hidden layer; continuous actions are kept within their bounds. */
export function networkOf({ action }: Pick<EnvironmentSpec, "action">): LayeredNetwork {
  const outputActivation = action.kind === "discrete" ? "none" : "sigmoid";
  return { kind: "mlp", hidden: [HIDDEN], activation: "tanh", outputActivation };
}

/** Members whose first episode is compared. */
export const COMPARED = 64;

/** A member's first episode: its first observation, its length, and the sum of rewards. */
export interface FirstEpisode {
  readonly observation: Float64Array;
  readonly length: number;
  readonly total: number;
}

/** First episodes as one output: observation, length and total of each. */
export function writeFirstEpisodes(episodes: readonly FirstEpisode[]): Float32Array {
  return Float32Array.from(episodes.flatMap(({ observation, length, total }) => [...observation, length, total]));
}

function readFirstEpisodes(output: Float32Array, observationSize: number): FirstEpisode[] {
  const numbers = observationSize + 2;
  if (output.length !== COMPARED * numbers) throw new Error(`${output.length} numbers`);
  return Array.from({ length: COMPARED }, (_, member) => {
    const row = Float64Array.from(output.subarray(member * numbers, (member + 1) * numbers));
    return { observation: row.subarray(0, observationSize), length: row.at(-2)!, total: row.at(-1)! };
  });
}

/** First episodes of ours, whose random numbers the reference knows. */
export function listStarts(environment: EnvironmentSpec, seed: number): Float64Array[] {
  return Array.from({ length: COMPARED }, (_, member) => {
    const state = new Float64Array(environment.state.reduce((sum, { count }) => sum + count, 0));
    environment.reference!.reset(state, createDraws({ seed, stream: 1, member, episode: 0, step: 0 }));
    const observation = new Float64Array(environment.observationSize);
    environment.reference!.observe(state, observation);
    return observation;
  });
}

/** Repeats the first episodes in f64, from the first observation and with the same weights. Fails like `compareEpisodes`. */
export function checkFirstEpisodes({ environment }: RolloutCase, output: Float32Array, rows: Float32Array): void {
  const spec = environmentNamed(environment);
  const parameters = rows.length / COMPARED;
  const episodes = readFirstEpisodes(output, spec.observationSize);
  const expected = episodes.map(({ observation }, member) =>
    playFrom(spec, rows.subarray(member * parameters, (member + 1) * parameters), startFrom(environment, observation)),
  );
  compareEpisodes(environment, toEpisodes(episodes), toEpisodes(expected));
}

function toEpisodes(episodes: readonly Pick<FirstEpisode, "total" | "length">[]): Episodes {
  return { returns: episodes.map(({ total }) => total), lengths: episodes.map(({ length }) => length) };
}

/** State that gives this observation at the beginning of an episode. */
function startFrom(environment: string, observation: Float64Array): Float64Array {
  const spec = environmentNamed(environment);
  const seen = (index: number) => observation[index]!;
  if (environment === "cartpole") return Float64Array.from(observation);
  if (environment === "acrobot") {
    return Float64Array.of(Math.atan2(seen(1), seen(0)), Math.atan2(seen(3), seen(2)), seen(4), seen(5));
  }
  const state = new Float64Array(spec.state.reduce((sum, { count }) => sum + count, 0));
  // Games have a few possible starts: the draws that lead to one identify it.
  for (let episode = 0; ; episode++) {
    const shown = new Float64Array(spec.observationSize);
    spec.reference!.reset(state, createDraws({ seed: 0, stream: 1, member: 0, episode, step: 0 }));
    if (environment.startsWith("sinuca")) state[8] = seen(1) * 0.635;
    spec.reference!.observe(state, shown);
    if (shown.every((number, index) => Math.abs(number - seen(index)) < 1e-5)) return state;
    if (episode > 100) throw new Error("it begins as no episode does");
  }
}

function playFrom(environment: EnvironmentSpec, row: Float32Array, state: Float64Array): Omit<EpisodeOutcome, "cause"> {
  const { reference, action, stepLimit, observationSize } = environment;
  const network = networkOf(environment);
  const layers = layOutPolicy(network, environment);
  const { base, spread } = spreadAction(network, action);
  const observation = new Float64Array(observationSize);
  let total = 0;
  for (let length = 1; ; length++) {
    reference!.observe(state, observation);
    const outputs = applyDense(layers, row, observation);
    const chosen =
      action.kind === "discrete"
        ? Float64Array.of(outputs.indexOf(Math.max(...outputs)))
        : outputs.map((y) => base + spread * y);
    const draws = { words: () => [0xffffffff, 0, 0, 0] as const };
    const { reward, terminated } = reference!.step(state, chosen, draws);
    total += reward;
    if (terminated || length >= stepLimit) return { length, total };
  }
}
