import type { PolicyNetwork } from "../../protocol/models/policy-network.ts";
import type { EnvironmentSource } from "../environments/environment-source.ts";
import type { EpisodePlan, EpisodeResults, Population, RolloutWatch } from "./population.ts";

/** A population with its weights, to be rolled out once. */
export interface RollOutRequest extends EpisodePlan {
  readonly environment: EnvironmentSource;
  readonly network: PolicyNetwork;
  readonly members: number;
  /** Rows of all members. */
  readonly weights: Float32Array<ArrayBuffer>;
}

/** What it did, and how long the steps took by the process's clock. */
export interface RollOutOutcome extends EpisodeResults {
  readonly durationMs: number;
}

/** Rolls out an open population that has these weights, and lets go of it. */
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

/** Members of the first attempt; each further one has so many times as much. */
const FIRST_MEMBERS = 64;
const GROWTH = 8;

/** Steps a second that a backend takes: of the largest attempt that there was time for. */
export interface RolloutTrial {
  readonly stepsPerSecond: number;
  /** Episodes of that attempt. */
  readonly evaluations: number;
}

/** The request as a trial has it, and the time that attempts may take. */
export interface TrialRequest extends RollOutRequest {
  readonly budgetMs: number;
}

/**
 * Rolls ever more members out, and then ever more episodes of each, until all are or the next attempt would take longer
 * than there is time: a GPU is slow with a few. Each attempt goes twice, since the first of them compiles; one is
 * made in any case. `open` opens a population of so many members.
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
    // What it takes to open and compile is no matter of speed, and would leave a GPU the smallest attempt only.
    leftMs -= 2 * durationMs;
    const isAll = members === most && episodes === plan.episodes;
    if (isAll || 2 * GROWTH * durationMs > leftMs) {
      return { stepsPerSecond: (1e3 * steps) / durationMs, evaluations: members * episodes };
    }
    if (members < most) members = Math.min(most, GROWTH * members);
    else episodes = Math.min(plan.episodes, GROWTH * episodes);
  }
}

/** The second of two equal runs; lets go of the population. */
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
