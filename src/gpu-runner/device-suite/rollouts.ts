import { environmentNamed } from "../../../kernels/environments/registry.ts";
import { countParameters } from "../../../kernels/rollout/policy-layout.ts";
import { PolicyNetwork } from "../../protocol/models/policy-network.ts";
import type { DeviceHost } from "../device-host/device-host.ts";
import { judgeProof, planProof } from "../kinds/evaluation/prove-environment.ts";
import type { RolloutTrial, TrialRequest } from "../rollout/roll-out.ts";
import { startPolicy } from "../training/start-policy.ts";
import type { Check, Part, SuiteContext } from "./check.ts";
import { runCheck } from "./run-check.ts";

/** A population in an environment that both processors have. */
export interface RolloutCase {
  readonly environment: string;
  readonly members: number;
}

/** One with short episodes, one whose episodes all have the same length, and one with more arithmetic a step. */
export const ROLLOUT_CASES: readonly RolloutCase[] = ["cartpole", "pendulum", "acrobot"].flatMap((environment) =>
  [4_096, 65_536].map((members) => ({ environment, members })),
);

const PART = "rollouts";
const NETWORK = PolicyNetwork.parse({ kind: "mlp" });
const EPISODES = 4;
const SEED = 1;
/** Most members that have policies of their own; further ones repeat them. */
const DRAWN_MEMBERS = 256;
const TRIAL_MS = 2_000;
const PROOF_LIMIT_MS = 60_000;
const CHECK_LIMIT_MS = 90_000;

/**
 * Speed of each population on the processor and on the GPU, in steps a second. A device first proves that it moves the
 * environment as its reference does. A slow device gets as many episodes as it can play in about two seconds.
 */
export function createRolloutPart(cases: readonly RolloutCase[] = ROLLOUT_CASES): Part {
  return async function* rollouts(context) {
    const proofs = new Map<string, Promise<void>>();
    for (const rolloutCase of cases) yield* checkCase(context, rolloutCase, proofs);
  };
}

async function* checkCase(
  context: SuiteContext,
  { environment, members }: RolloutCase,
  proofs: Map<string, Promise<void>>,
): AsyncGenerator<Check> {
  const speeds: Record<string, number> = {};
  for (const [backend, host] of [["cpu-simd", context.cpu] as const, ["wgsl", context.host] as const]) {
    const name = `${environment} ${members} ${backend}`;
    if (context.done(name)) continue;
    yield await runCheck({ part: PART, name, limitMs: CHECK_LIMIT_MS }, context, async (signal) => {
      const key = `${environment} ${backend}`;
      const proof = proofs.get(key) ?? proveEnvironment(host, environment, signal);
      proofs.set(key, proof);
      await proof;
      const trial = await tryMembers(host, environment, members, signal);
      speeds[backend] = trial.stepsPerSecond;
      return { figures: describeTrial(trial, speeds) };
    });
  }
}

function describeTrial({ stepsPerSecond, evaluations }: RolloutTrial, speeds: Record<string, number>) {
  const { wgsl, "cpu-simd": cpu } = speeds;
  const ratio = wgsl === undefined || cpu === undefined ? {} : { gpuOverCpu: wgsl / cpu };
  return { stepsPerSecond, episodes: evaluations, ...ratio };
}

async function proveEnvironment(host: DeviceHost, name: string, signal: AbortSignal): Promise<void> {
  const environment = environmentNamed(name);
  const request = planProof(environment);
  const input = { environment: name, ...request };
  const trace = await host.workApart("replay", input, PROOF_LIMIT_MS, "device-lost", { signal });
  await judgeProof(environment, request, trace);
}

function tryMembers(
  host: DeviceHost,
  environment: string,
  members: number,
  signal: AbortSignal,
): Promise<RolloutTrial> {
  const request: TrialRequest = {
    environment,
    network: NETWORK,
    members,
    weights: drawWeights(environment, members),
    seed: SEED,
    firstEpisode: 0,
    episodes: EPISODES,
    commonRandom: false,
    budgetMs: TRIAL_MS,
  };
  return host.workApart("tryRollOut", request, CHECK_LIMIT_MS, "device-lost", { signal });
}

/** Rows of all members: first policies of a training. */
function drawWeights(name: string, members: number): Float32Array<ArrayBuffer> {
  const environment = environmentNamed(name);
  const parameters = countParameters(NETWORK, environment);
  const weights = new Float32Array(members * parameters);
  const drawn = Math.min(members, DRAWN_MEMBERS) * parameters;
  for (let at = 0; at < drawn; at += parameters) weights.set(startPolicy(NETWORK, environment, SEED + at), at);
  for (let filled = drawn; filled < weights.length; filled *= 2) weights.copyWithin(filled, 0, filled);
  return weights;
}
