import type { PolicyNetwork } from "../../protocol/policy-network.ts";
import type { EnvironmentSource } from "./environment-source.ts";
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
