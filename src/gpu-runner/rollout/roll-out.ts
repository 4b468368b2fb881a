import type { PolicyNetwork } from "../../protocol/models/policy-network.ts";
import type { EnvironmentSource } from "../environments/environment-source.ts";
import type { EpisodePlan, EpisodeResults, Population, RolloutWatch } from "./population.ts";

/** Population with its weights, to be rolled out once. */
export interface RollOutRequest extends EpisodePlan {
  readonly environment: EnvironmentSource;
  readonly network: PolicyNetwork;
  readonly members: number;
  /** Rows of all members. */
  readonly weights: Float32Array<ArrayBuffer>;
}

/** Results, and the time of the steps on the process's clock. */
export interface RollOutOutcome extends EpisodeResults {
  readonly durationMs: number;
}

/** Population that stays open between rollouts of one form, one after the other. */
export class KeptPopulation {
  readonly #open: (request: RollOutRequest) => Promise<Population>;
  #form = "";
  #population: Population | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(open: (request: RollOutRequest) => Promise<Population>) {
    this.#open = open;
  }

  rollOut(request: RollOutRequest, watch: RolloutWatch): Promise<RollOutOutcome> {
    const turn = this.#last.then(() => this.#rollOut(request, watch));
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #rollOut(request: RollOutRequest, watch: RolloutWatch): Promise<RollOutOutcome> {
    const { environment, network, members, weights, ...plan } = request;
    const form = JSON.stringify([environment, network, members]);
    if (this.#population === null || this.#form !== form) {
      await this.#population?.release();
      this.#population = null;
      this.#population = await this.#open(request);
      this.#form = form;
    }
    const kept = this.#population;
    return rollOutOnce({ ...kept, release: async () => undefined }, { weights, ...plan }, watch);
  }
}

/** Rolls out an open population with these weights, and releases it. */
export async function rollOutOnce(
  population: Pick<Population, "write" | "evaluate" | "release">,
  { weights, ...plan }: Pick<RollOutRequest, "weights"> & EpisodePlan,
  watch: RolloutWatch,
): Promise<RollOutOutcome> {
  try {
    await population.write(0, weights);
    const startedMs = performance.now();
    const results = await population.evaluate(plan, watch);
    return { ...results, durationMs: performance.now() - startedMs };
  } finally {
    await population.release();
  }
}

/** Members of the first attempt; each further one has this many times as many. */
const FIRST_MEMBERS = 64;
const GROWTH = 8;

/** Speed of a backend in steps per second, from the largest attempt within the time. */
export interface RolloutTrial {
  readonly stepsPerSecond: number;
  /** Episodes of that attempt. */
  readonly evaluations: number;
}

/** Request of a trial, and the time for its attempts. */
export interface TrialRequest extends RollOutRequest {
  readonly budgetMs: number;
}

/**
 * Rolls out ever more members, and then ever more episodes of each, until all are done or the next attempt would exceed
 * the time: a GPU is slow with a few. Each attempt runs twice, since the first run compiles; at least one is made.
 * `open` opens a population of this many members.
 */
export async function tryRollOut(
  open: (members: number) => Promise<Population>,
  { members: most, weights, budgetMs, ...plan }: TrialRequest,
  watch: RolloutWatch,
): Promise<RolloutTrial> {
  let leftMs = budgetMs;
  let members = Math.min(most, FIRST_MEMBERS);
  let episodes = 1;
  for (;;) {
    const rows = weights.subarray(0, (weights.length / most) * members);
    const { steps, durationMs } = await timeSteps(await open(members), rows, { ...plan, episodes }, watch);
    // Opening and compiling do not count as speed: otherwise a GPU would only get the smallest attempt.
    leftMs -= 2 * durationMs;
    const isAll = members === most && episodes === plan.episodes;
    if (isAll || 2 * GROWTH * durationMs > leftMs) {
      return { stepsPerSecond: (1e3 * steps) / durationMs, evaluations: members * episodes };
    }
    if (members < most) members = Math.min(most, GROWTH * members);
    else episodes = Math.min(plan.episodes, GROWTH * episodes);
  }
}

/** Time of the second of two equal runs; releases the population. */
async function timeSteps(
  population: Population,
  rows: Float32Array<ArrayBuffer>,
  plan: EpisodePlan,
  watch: RolloutWatch,
): Promise<{ readonly steps: number; readonly durationMs: number }> {
  try {
    await population.write(0, rows);
    await population.evaluate(plan, watch);
    const startedMs = performance.now();
    const { lengths } = await population.evaluate(plan, watch);
    const durationMs = Math.max(Number.EPSILON, performance.now() - startedMs);
    return { steps: lengths.reduce((sum, length) => sum + length, 0), durationMs };
  } finally {
    await population.release();
  }
}
