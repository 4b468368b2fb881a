import { layOutPolicy } from "../../../kernels/rollout/policy-layout.ts";
import { createDraws, toUniform } from "../../stats/draws.ts";
import { startPolicy } from "../training/start-policy.ts";
import type { StrategyContext } from "../training/strategy.ts";
import type { CmaMe, MapElites } from "../../protocol/archive-algorithm.ts";

/** All that a float (f32) holds. */
export const UNBOUNDED = { low: -3.4028234663852886e38, high: 3.4028234663852886e38 } as const;

/** Draws of first solutions. */
const SOLUTION_STREAM = 6;

type Start = Pick<StrategyContext<MapElites | CmaMe>, "algorithm" | "environment" | "network" | "population" | "seed">;

/**
 * Makes all members anew where there is no elite to begin with: solutions even over the action's bounds, or normal round
 * their middle with the spread that is asked for; networks normal round 0 with variance 1 / inputs, as a layer wants it
 * (LeCun et al., "Efficient BackProp", 1998), without biases.
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

/** Where a search begins: the middle of a solution's bounds, or a network's first policy. */
export function startMean({ environment, network, population, seed }: Start): Float64Array {
  if (network.kind !== "direct") return startPolicy(network, environment, seed);
  return new Float64Array(population.parameters).fill(middleOf(environment.action));
}

/** The bounds that a solution's children are kept within; of a network there are none. */
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
