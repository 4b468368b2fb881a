import type { EnvironmentSpec } from "../../../../kernels/environments/environment-spec.ts";
import { ENVIRONMENTS } from "../../../../kernels/environments/registry.ts";
import { countParameters } from "../../../../kernels/rollout/policy-layout.ts";
import { RolloutBackend } from "../../../protocol/fleet/rollout-environment.ts";
import type { RolloutThroughput } from "../../../protocol/jobs/evaluation/evaluation.ts";
import type { PolicyNetwork } from "../../../protocol/models/policy-network.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { WorkOptions } from "../../device-host/device-host.ts";
import { runsOnCpu } from "../../environments/compose-assembly.ts";
import type { RollOutRequest, TrialRequest } from "../../rollout/roll-out.ts";
import type { DeviceFleet, FleetDevice } from "../../serving/device-fleet.ts";
import { startPolicy } from "../../training/start-policy.ts";

const BACKENDS = RolloutBackend.options;

/** What is to be rolled out, as far as it decides which backend is the faster. */
export interface BackendQuestion extends Pick<RollOutRequest, "environment" | "network" | "members" | "episodes"> {
  /** Makes what trials roll out: members, thousands if there are so many, and their rows. */
  readonly sample: () => Pick<RollOutRequest, "members" | "weights">;
  /** What was asked for, which is then taken without a trial. */
  readonly backend?: RolloutBackend | undefined;
  readonly deviceKey?: string | undefined;
}

export interface BackendChoice {
  readonly backend: RolloutBackend;
  readonly device: FleetDevice;
  /** What each did in its trial; empty where there was none. */
  readonly chosenFrom: RolloutThroughput["chosenFrom"];
}

/** Of one backend, besides starting a process and compiling. */
const TRIAL_MS = 1_000;
/** A trial that takes longer is ended, and its backend is out. */
const TRIAL_LIMIT_MS = 60_000;
const TRIAL_SEED = 1;
const TRIAL_EPISODES = 64;

/** Which backend is the faster for what is rolled out here: found by trials, and remembered as long as the runner lives. */
export class BackendChoices {
  readonly #fleet: Pick<DeviceFleet, "all">;
  readonly #known = new Map<string, Promise<RolloutThroughput["chosenFrom"]>>();

  constructor(fleet: Pick<DeviceFleet, "all">) {
    this.#fleet = fleet;
  }

  /**
   * The device and backend for a question. Where several could do it each is tried for about a second, one after the
   * other, on the question's own sample, and the faster one is taken. Fails with `backend-failed` where none can, or
   * every trial failed.
   */
  async choose(question: BackendQuestion, options: WorkOptions = {}): Promise<BackendChoice> {
    const able = this.#listAble(question);
    const [only] = able;
    if (only === undefined) throw new ProblemError("backend-failed", explainMissing(question));
    if (able.length === 1) return { ...only, chosenFrom: [] };
    const chosenFrom = await this.#tryOnce(keyOf(question, able), () => tryAll(able, question, options), options);
    const fastest = chosenFrom.toSorted((a, b) => b.stepsPerSecond - a.stepsPerSecond)[0];
    const chosen = able.find(({ backend }) => backend === fastest?.backend) ?? only;
    return { ...chosen, chosenFrom };
  }

  /** Trials under a key, which whoever asks for the same meanwhile waits for. */
  async #tryOnce(
    key: string,
    tryThem: () => Promise<RolloutThroughput["chosenFrom"]>,
    { signal }: WorkOptions,
  ): Promise<RolloutThroughput["chosenFrom"]> {
    for (;;) {
      const others = this.#known.get(key);
      const trials = others ?? tryThem();
      this.#known.set(key, trials);
      try {
        return await trials;
      } catch (error) {
        // Whoever asks next may fare better.
        if (this.#known.get(key) === trials) this.#known.delete(key);
        // Another job's trials end with that job.
        const endedWithOther =
          others !== undefined && error instanceof ProblemError && error.problem.code === "cancelled";
        if (!endedWithOther || signal?.aborted) throw error;
      }
    }
  }

  /** A device for each backend that has what it takes: of several GPUs the one that has least to do. */
  #listAble({ environment, network, backend, deviceKey }: BackendQuestion): Omit<BackendChoice, "chosenFrom">[] {
    const spec = typeof environment === "string" ? ENVIRONMENTS.get(environment) : undefined;
    const hasTwin = spec !== undefined && runsOnCpu(spec, network.kind);
    const wanted = BACKENDS.filter((one) => (one === "wgsl" || hasTwin) && (backend ?? one) === one);
    return wanted.flatMap((one) => {
      const [device] = this.#fleet
        .all()
        .filter(({ host }) => host.device.backends.includes(one) && (deviceKey ?? host.device.key) === host.device.key)
        .toSorted((a, b) => a.host.waiting - b.host.waiting);
      return device === undefined ? [] : [{ backend: one, device }];
    });
  }
}

/** Trials that failed are left out. Throws the last failure where none is left. */
async function tryAll(
  able: readonly Omit<BackendChoice, "chosenFrom">[],
  question: BackendQuestion,
  options: WorkOptions,
): Promise<RolloutThroughput["chosenFrom"]> {
  const { environment, network, sample, episodes } = question;
  const request: TrialRequest = {
    environment,
    network,
    ...sample(),
    seed: TRIAL_SEED,
    firstEpisode: 0,
    // Weights may be looked at without an episode, and a speed is found with one.
    episodes: Math.max(1, Math.min(episodes, TRIAL_EPISODES)),
    commonRandom: true,
    budgetMs: TRIAL_MS,
  };
  const tried: { backend: RolloutBackend; stepsPerSecond: number }[] = [];
  let failure: unknown;
  for (const { backend, device } of able) {
    try {
      const trial = await device.host.workApart("tryRollOut", request, TRIAL_LIMIT_MS, "device-lost", options);
      tried.push({ backend, stepsPerSecond: trial.stepsPerSecond });
    } catch (error) {
      if (options.signal?.aborted) throw error;
      failure = error;
    }
  }
  if (tried.length === 0) throw failure;
  return tried;
}

/** Sizes count by powers of two: what is faster changes with them, but slowly. */
function keyOf(
  { environment, network, members, episodes }: BackendQuestion,
  able: readonly Omit<BackendChoice, "chosenFrom">[],
): string {
  const bucket = (size: number) => Math.floor(Math.log2(Math.max(1, size)));
  const devices = able.map(({ device }) => device.host.device.key);
  return JSON.stringify([environment, network, bucket(members), bucket(episodes), devices]);
}

function explainMissing({ network, backend, deviceKey }: BackendQuestion): string {
  const where = deviceKey === undefined ? "of this runner" : `'${deviceKey}'`;
  return `No device ${where} rolls policies '${network.kind}' out in this environment${backend === undefined ? "" : ` on ${backend}`}.`;
}

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
