import type { EnvironmentSpec } from "../../../kernels/environments/environment-spec.ts";
import { countParameters, layOutPolicy } from "../../../kernels/rollout/policy-layout.ts";
import type { PolicyNetwork } from "../../protocol/policy-network.ts";
import { createDraws, toUniform } from "../../stats/draws.ts";
import { normalQuantile } from "../../stats/normal.ts";

/** Draws of first policies; environments have stream 1. */
const START_STREAM = 3;

/**
 * Of the deviation that keeps a layer's outputs as large as its inputs. With all of it one CartPole in ten begins as a
 * policy that always does the same, so surely that no member of a small σ does otherwise, and nothing is ever learnt.
 */
const SHARE = 0.3;

/**
 * A row to begin with: weights are normal with a share of the deviation 1 / √inputs (LeCun et al., "Efficient BackProp",
 * 1998); biases are 0, and so is everything of another kind of network.
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
