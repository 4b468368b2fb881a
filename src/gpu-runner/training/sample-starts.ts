import type { EnvironmentSpec } from "../../../kernels/environments/environment-spec.ts";
import { countParameters } from "../../../kernels/rollout/policy-layout.ts";
import type { PolicyNetwork } from "../../protocol/policy-network.ts";
import type { BackendQuestion } from "../rollout/choose-backend.ts";
import { startPolicy } from "./start-policy.ts";

const MOST_MEMBERS = 1_024;
/** Of all members: 64 MiB. */
const MOST_NUMBERS = 2 ** 24;
/** Drawn one by one on the host, which takes about a second. */
const DRAWN_NUMBERS = 2 ** 19;

/** Policies such as a training begins with, for trials of backends: where they are large fewer, and the same again and again. */
export function sampleStarts(
  network: PolicyNetwork,
  environment: Pick<EnvironmentSpec, "observationSize" | "action">,
  seed: number,
  population: number,
): ReturnType<BackendQuestion["sample"]> {
  const parameters = countParameters(network, environment);
  const fitting = (numbers: number) => Math.max(1, Math.floor(numbers / parameters));
  const members = Math.min(population, MOST_MEMBERS, fitting(MOST_NUMBERS));
  const drawn = Math.min(members, fitting(DRAWN_NUMBERS));
  const weights = new Float32Array(members * parameters);
  for (let member = 0; member < drawn; member++) {
    weights.set(startPolicy(network, environment, seed + member), member * parameters);
  }
  for (let member = drawn; member < members; member++) {
    const from = (member % drawn) * parameters;
    weights.copyWithin(member * parameters, from, from + parameters);
  }
  return { members, weights };
}
