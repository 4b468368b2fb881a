import { environmentNamed, ENVIRONMENTS } from "../../../kernels/environments/registry.ts";
import type { EnvironmentSpec } from "../../../kernels/environments/environment-spec.ts";
import { countParameters } from "../../../kernels/rollout/policy-layout.ts";
import { rollOut } from "../../../kernels/rollout/roll-out.reference.ts";
import { seededUniform } from "../../../kernels/seeded-uniform.ts";
import type { LayeredNetwork } from "../../protocol/models/policy-network.ts";
import { compareEpisodes, type Episodes } from "../environments/compare-episodes.ts";
import { judgeProof, planProof } from "../kinds/evaluation/prove-environment.ts";
import type { RollOutRequest } from "../rollout/roll-out.ts";
import type { Check, SuiteContext } from "./check.ts";
import { tryCheck } from "./try-check.ts";

const PART = "environments";
/** Limit of one replay or rollout, with the compilation of its program. */
const TIMEOUT_MS = 60_000;
const MEMBERS = 64;
/** Members whose episodes the f64 reference plays, which needs milliseconds for a step of colliding bodies. */
const REFERENCE_MEMBERS = 16;
const PLAN = { seed: 11, firstEpisode: 0, episodes: 1, commonRandom: false } as const;

/**
 * Compares every environment's steps on the GPU with its f64 reference's, and then whole episodes of a population with
 * those on the CPU: of its twin there, or else of the reference.
 */
export async function* checkEnvironments(context: SuiteContext): AsyncGenerator<Check> {
  for (const environment of ENVIRONMENTS.values()) {
    const [steps, episodes] = [`${environment.name} steps`, `${environment.name} episodes`];
    if (!context.done(steps)) yield await tryCheck(PART, steps, () => checkSteps(context, environment));
    if (!context.done(episodes)) yield await tryCheck(PART, episodes, () => checkEpisodes(context, environment));
  }
}

async function checkSteps({ host, signal }: SuiteContext, environment: EnvironmentSpec) {
  const request = planProof(environment);
  const trace = await host.work("replay", { environment: environment.name, ...request }, TIMEOUT_MS, { signal });
  return { ...(await judgeProof(environment, request, trace)) };
}

async function checkEpisodes({ host, cpu, signal }: SuiteContext, environment: EnvironmentSpec) {
  const request = planRollOut(environment);
  const found = await host.work("rollOut", request, TIMEOUT_MS, { signal });
  const expected =
    environment.assembly === undefined
      ? playReference(request)
      : await cpu.work("rollOut", request, TIMEOUT_MS, { signal });
  return {
    ...compareEpisodes(found, expected),
    stepsPerSecond: (1e3 * sumOf(found.lengths)) / found.durationMs,
    comparedWith: environment.assembly === undefined ? "f64 reference" : "cpu-simd",
  };
}

/** A population of random networks with one hidden layer; continuous actions stay within their bounds. */
function planRollOut(environment: EnvironmentSpec): RollOutRequest & { readonly environment: string } {
  const outputActivation = environment.action.kind === "discrete" ? "none" : "sigmoid";
  const network: LayeredNetwork = { kind: "mlp", hidden: [32], activation: "tanh", outputActivation };
  const members = environment.assembly === undefined ? REFERENCE_MEMBERS : MEMBERS;
  const weights = seededUniform(5, 0, members * countParameters(network, environment), 0.5);
  return { environment: environment.name, network, members, weights, ...PLAN };
}

function playReference({
  environment,
  network,
  members,
  weights,
  seed,
  commonRandom,
}: ReturnType<typeof planRollOut>): Episodes {
  const width = weights.length / members;
  const spec = environmentNamed(environment);
  const outcomes = Array.from({ length: members }, (_, member) =>
    rollOut(spec, network, weights.subarray(member * width, (member + 1) * width), {
      seed,
      member,
      episode: 0,
      commonRandom,
    }),
  );
  return { returns: outcomes.map(({ total }) => total), lengths: outcomes.map(({ length }) => length) };
}

function sumOf(values: ArrayLike<number>): number {
  return Array.from(values).reduce((sum, value) => sum + value, 0);
}
