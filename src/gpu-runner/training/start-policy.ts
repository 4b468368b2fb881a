import type { EnvironmentSpec } from "../../../kernels/environments/environment-spec.ts";
import { countParameters, layOutPolicy } from "../../../kernels/rollout/policy-layout.ts";
import type { CmaMe, MapElites } from "../../protocol/jobs/training.ts";
import type { PolicyNetwork } from "../../protocol/models/policy-network.ts";
import { normalQuantile } from "../../stats/distribution/normal.ts";
import { createDraws, toUniform } from "../../stats/random/draws.ts";
import type { StrategyContext } from "./strategy.ts";

/** Random stream of first policies; environments have stream 1. */
const START_STREAM = 3;

/**
 * Share of the deviation that keeps a layer's outputs as large as its inputs. At full deviation one CartPole in ten
 * begins with a policy so constant that no member of a small σ acts differently, and nothing is learnt.
 */
const SHARE = 0.3;

/**
 * First row: weights are normal with a share of the deviation 1 / √inputs; biases are 0, and so is everything of
 * another kind of network.
 * Source: LeCun et al., "Efficient BackProp", 1998.
 */
export function startPolicy(
  network: PolicyNetwork,
  environment: Pick<EnvironmentSpec, "observationSize" | "action">,
  seed: number,
): Float64Array<ArrayBuffer> {
  const row = new Float64Array(countParameters(network, environment));
  if (network.kind !== "mlp") return row;
  const layers = layOutPolicy(network, environment);
  for (const [layer, { inputs, outputs, weightsAt }] of layers.entries()) {
    const draws = createDraws({ seed, stream: START_STREAM, member: 0, episode: 0, step: layer });
    for (let index = 0; index < inputs * outputs; index++) {
      const uniform = toUniform(draws.words()[0]) + 2 ** -25;
      row[weightsAt + index] = (SHARE * normalQuantile(uniform)) / Math.sqrt(inputs);
    }
  }
  return row;
}

/** Range of f32. */
export const UNBOUNDED = { low: -3.4028234663852886e38, high: 3.4028234663852886e38 } as const;

/** Random stream of first solutions. */
const SOLUTION_STREAM = 6;

type Start = Pick<StrategyContext<MapElites | CmaMe>, "algorithm" | "environment" | "network" | "population" | "seed">;

/**
 * Draws all members where there is no elite to start from. Solutions are uniform over the action's bounds, or normal
 * around their middle with the requested deviation. Networks are normal around 0 with variance 1 / inputs, without
 * biases.
 * Source: LeCun et al., "Efficient BackProp", 1998.
 */
export async function startMembers(start: Start, generation: number): Promise<void> {
  const { algorithm, environment, network, population, seed } = start;
  const { startSigma } = algorithm;
  if (network.kind === "direct" && startSigma === undefined) {
    await population.write(0, drawSolutions(start, generation));
    return;
  }
  const { parameters } = population;
  const mean = new Float32Array(parameters).fill(network.kind === "direct" ? middleOf(environment.action) : 0);
  const sigma = new Float32Array(parameters).fill(startSigma ?? 0);
  if (startSigma === undefined && network.kind === "mlp") {
    for (const { inputs, outputs, weightsAt } of layOutPolicy(network, environment)) {
      sigma.fill(1 / Math.sqrt(inputs), weightsAt, weightsAt + inputs * outputs);
    }
  }
  await population.perturb({ seed, generation, mirrored: false, mean, sigma });
}

/** First mean of a search: the middle of a solution's bounds, or a network's first policy. */
export function startMean({ environment, network, population, seed }: Start): Float64Array {
  if (network.kind !== "direct") return startPolicy(network, environment, seed);
  return new Float64Array(population.parameters).fill(middleOf(environment.action));
}

/** Bounds of a solution's children; networks have none. */
export function boundsOf({ algorithm, environment, network }: Pick<Start, "algorithm" | "environment" | "network">) {
  const { action } = environment;
  const isBounded = algorithm.bounded && network.kind === "direct" && action.kind === "continuous";
  return isBounded ? { low: action.low, high: action.high } : UNBOUNDED;
}

function middleOf(action: Start["environment"]["action"]): number {
  return action.kind === "continuous" ? (action.low + action.high) / 2 : 0;
}

function drawSolutions({ environment, seed, population }: Start, generation: number): Float32Array<ArrayBuffer> {
  const { action } = environment;
  const { low, high } = action.kind === "continuous" ? action : { low: 0, high: 1 };
  const { members, parameters } = population;
  const rows = new Float32Array(members * parameters);
  for (let member = 0; member < members; member++) {
    const draws = createDraws({ seed, stream: SOLUTION_STREAM, member, episode: generation, step: 0 });
    for (let parameter = 0; parameter < parameters; parameter += 4) {
      for (const [index, word] of draws
        .words()
        .slice(0, parameters - parameter)
        .entries()) {
        rows[member * parameters + parameter + index] = low + (high - low) * toUniform(word);
      }
    }
  }
  return rows;
}
