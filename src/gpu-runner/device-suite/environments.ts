import { setImmediate } from "node:timers/promises";
import { environmentNamed, ENVIRONMENTS } from "../../../kernels/environments/registry.ts";
import type { EnvironmentSpec } from "../../../kernels/environments/environment-spec.ts";
import { countParameters } from "../../../kernels/rollout/policy-layout.ts";
import { walkEpisode } from "../../../kernels/rollout/roll-out.reference.ts";
import { seededUniform } from "../../../kernels/seeded-uniform.ts";
import type { LayeredNetwork } from "../../protocol/models/policy-network.ts";
import { compareEpisodes, type Episodes } from "../environments/compare-episodes.ts";
import { judgeProof, planProof } from "../kinds/evaluation/prove-environment.ts";
import type { RollOutRequest } from "../rollout/roll-out.ts";
import type { Check, SuiteContext } from "./check.ts";
import { type Finding, runCheck } from "./run-check.ts";

const PART = "environments";
/** Limit of one replay or rollout, with the compilation of its program. */
const TIMEOUT_MS = 60_000;
const MEMBERS = 64;
/** The same where the f64 reference plays, which needs milliseconds for a step of colliding bodies or of pictures. */
const REFERENCE_MEMBERS = { numbers: 8, frames: 4 } as const;
/** Steps of the reference after which this process does other things, such as ending the check. */
const STEPS_AT_ONCE = 16;
const PLAN = { seed: 11, firstEpisode: 0, episodes: 1, commonRandom: false } as const;

/**
 * Compares every environment's steps on the GPU with its f64 reference's, and then whole episodes of a population with
 * those on the CPU: of its twin there, or else of the reference.
 */
export async function* checkEnvironments(context: SuiteContext): AsyncGenerator<Check> {
  const { cpu, signal, done } = context;
  const cases = [...ENVIRONMENTS.values()].map((environment) => {
    const [steps, episodes] = [`${environment.name} steps`, `${environment.name} episodes`];
    const request = planRollOut(environment);
    const isPlayed = hasTwin(environment) && !done(episodes);
    // The CPU compiles and plays ahead, while the GPU is busy with earlier ones.
    const ahead = isPlayed ? cpu.work("rollOut", request, TIMEOUT_MS, { signal }) : null;
    ahead?.catch(() => {});
    return { environment, steps, episodes, request, ahead };
  });
  for (const { environment, steps, episodes, request, ahead } of cases) {
    if (!done(steps))
      yield await runCheck({ part: PART, name: steps }, context, () => checkSteps(context, environment));
    if (!done(episodes)) {
      yield await runCheck({ part: PART, name: episodes }, context, () => checkEpisodes(context, request, ahead));
    }
  }
}

async function checkSteps({ host, signal }: SuiteContext, environment: EnvironmentSpec): Promise<Finding> {
  const request = planProof(environment);
  const trace = await host.work("replay", { environment: environment.name, ...request }, TIMEOUT_MS, { signal });
  return { figures: { ...(await judgeProof(environment, request, trace)) } };
}

/** `ahead` are the same episodes on the CPU; the reference plays them where that is null. */
async function checkEpisodes(
  { host, signal }: SuiteContext,
  request: PlannedRollOut,
  ahead: Promise<Episodes> | null,
): Promise<Finding> {
  const found = await host.work("rollOut", request, TIMEOUT_MS, { signal });
  const agreement = compareEpisodes(request.environment, found, await (ahead ?? playReference(request, signal)));
  const steps = found.lengths.reduce((sum, length) => sum + length, 0);
  const comparedWith = ahead === null ? "f64 reference" : "cpu-simd";
  return { figures: { ...agreement, stepsPerSecond: (1e3 * steps) / found.durationMs, comparedWith } };
}

type PlannedRollOut = RollOutRequest & { readonly environment: string };

/** Whether the CPU rolls it out: it has no program for networks that see frames. */
function hasTwin({ assembly, frames }: EnvironmentSpec): boolean {
  return assembly !== undefined && frames !== true;
}

/** A population of random networks with one hidden layer; continuous actions stay within their bounds. */
export function planRollOut(environment: EnvironmentSpec): PlannedRollOut {
  const network = networkOf(environment);
  const members = hasTwin(environment)
    ? MEMBERS
    : REFERENCE_MEMBERS[environment.frames === true ? "frames" : "numbers"];
  const weights = seededUniform(5, 0, members * countParameters(network, environment), 0.5);
  return { environment: environment.name, network, members, weights, ...PLAN };
}

function networkOf({ action, frames }: EnvironmentSpec): LayeredNetwork {
  if (frames === true) return { kind: "conv", firstChannels: 2, secondChannels: 2, hidden: 8, activation: "relu" };
  const outputActivation = action.kind === "discrete" ? "none" : "sigmoid";
  return { kind: "mlp", hidden: [32], activation: "tanh", outputActivation };
}

/** Episodes of the f64 reference in this process. Fails where the signal is aborted, soon after. */
export async function playReference(
  { environment, network, members, weights, seed, commonRandom }: PlannedRollOut,
  signal: AbortSignal,
): Promise<Episodes> {
  const width = weights.length / members;
  const spec = environmentNamed(environment);
  const [returns, lengths]: [number[], number[]] = [[], []];
  for (let member = 0; member < members; member++) {
    const row = weights.subarray(member * width, (member + 1) * width);
    const walk = walkEpisode(spec, network, row, { seed, member, episode: 0, commonRandom });
    let moment = walk.next();
    for (let step = 1; moment.done !== true; step++) {
      if (step % STEPS_AT_ONCE === 0) {
        await setImmediate();
        signal.throwIfAborted();
      }
      moment = walk.next();
    }
    returns.push(moment.value.total);
    lengths.push(moment.value.length);
  }
  return { returns, lengths };
}
