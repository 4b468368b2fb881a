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

/** Rollout properties that decide which backend is faster. */
export interface BackendQuestion extends Pick<RollOutRequest, "environment" | "network" | "members" | "episodes"> {
  /** Sample for trials: members, thousands if there are so many, and their rows. */
  readonly sample: () => Pick<RollOutRequest, "members" | "weights">;
  /** Requested backend, used without a trial. */
  readonly backend?: RolloutBackend | undefined;
  readonly deviceKey?: string | undefined;
}

export interface BackendChoice {
  readonly backend: RolloutBackend;
  readonly device: FleetDevice;
  /** Result of each backend's trial; empty without one. */
  readonly chosenFrom: RolloutThroughput["chosenFrom"];
}

/** Duration of one backend's trial, besides starting a process and compiling. */
const TRIAL_MS = 1_000;
/** Limit of a trial; a backend beyond it is excluded. */
const TRIAL_LIMIT_MS = 60_000;
const TRIAL_SEED = 1;
const TRIAL_EPISODES = 64;

/** Fastest backend for each kind of rollout here, found by trials and cached as long as the runner lives. */
export class BackendChoices {
  readonly #fleet: Pick<DeviceFleet, "all">;
  readonly #known = new Map<string, Promise<RolloutThroughput["chosenFrom"]>>();

  constructor(fleet: Pick<DeviceFleet, "all">) {
    this.#fleet = fleet;
  }

  /**
   * Device and backend for a question.
   * Several able backends are tried in turn for about a second each on the question's sample, and the faster one is
   * chosen.
   * Fails with `backend-failed` where none is able, or every trial failed.
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

  /** Runs trials under a key, shared by all concurrent requests for it. */
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
        // Failed trials are forgotten, so that the next request tries again.
        if (this.#known.get(key) === trials) this.#known.delete(key);
        // Another job's trials end with that job.
        const endedWithOther =
          others !== undefined && error instanceof ProblemError && error.problem.code === "cancelled";
        if (!endedWithOther || signal?.aborted) throw error;
      }
    }
  }

  /** A device for each able backend: of several GPUs the least busy. */
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

/** Results of the trials, without failed ones. Throws the last failure where none is left. */
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
    // A job may check weights without an episode, while measuring a speed needs one.
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

/** Key of a question; sizes count by powers of two, since the faster backend changes slowly with them. */
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
/** Most numbers of all members: 64 MiB. */
const MOST_NUMBERS = 2 ** 24;
/** Most numbers drawn one by one on the host, which takes about a second. */
const DRAWN_NUMBERS = 2 ** 19;

/** Initial policies of a training, for trials of backends: fewer, repeated ones where they are large. */
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
