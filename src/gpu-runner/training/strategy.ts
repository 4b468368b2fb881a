import type { EnvironmentSpec } from "../../../kernels/environments/environment-spec.ts";
import type { JobArtifactName } from "../../protocol/jobs/job-artifact.ts";
import type { Algorithm, SpeciesCensus, TrainingResult } from "../../protocol/jobs/training.ts";
import type { PolicyNetwork } from "../../protocol/models/policy-network.ts";
import type { FiledElites } from "../../protocol/policies/archive-file.ts";
import type { Population } from "../rollout/population.ts";

/** What the episodes of one generation said of each member. */
export interface Told {
  readonly generation: number;
  /** Mean return; NaN of a member that failed in any episode. */
  readonly fitness: Float64Array;
  /** Mean behaviour: members × measures of the environment, NaN of a member that failed. */
  readonly measures: Float64Array;
}

/** All that a strategy carries from one generation to the next: what a checkpoint keeps. */
export type StrategyState = Readonly<
  Record<string, Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>
>;

/** A file that a strategy leaves beside the best policy. */
export interface LeftFile {
  readonly name: JobArtifactName;
  readonly mediaType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * An algorithm at work on a population: it decides who the members are and learns from how they did. The population
 * holds the members, the strategy what they are drawn from. Everything random is drawn by counter from the seed and
 * the generation, so that a strategy that is opened anew with `save`'s state goes on as if it had never stopped.
 */
export interface Strategy {
  /** Makes the members of a generation, the first of which is 0, on the population. */
  ask(generation: number): Promise<void>;
  /** Learns from all members of the generation that was asked for last. */
  tell(told: Told): Promise<void>;
  /** The policy that stands for what was learnt so far, one row; not asked for before the first `tell`. */
  policy(): Promise<Float32Array<ArrayBuffer>>;
  /** The state after the last `tell`: copies, which later generations do not change. */
  save(): Promise<StrategyState>;
  /** How the members of the last `tell` were divided into species, where the algorithm has any. */
  takeCensus?(): SpeciesCensus | null;
  /** What the training leaves beside a policy, once it has ended; files have names of their own. */
  leave?(): Promise<readonly LeftFile[]>;
  /** What the result tells of an algorithm with an archive. */
  tellArchive?(): Promise<TrainingResult["qualityDiversity"]>;
  /** Lets go of what it holds beside the population. */
  release?(): Promise<void>;
}

/** What a strategy is opened with. */
export interface StrategyContext<Chosen extends Algorithm = Algorithm> {
  readonly algorithm: Chosen;
  readonly environment: EnvironmentSpec;
  readonly network: PolicyNetwork;
  /** As many members as the algorithm says; nobody else changes them. */
  readonly population: Population;
  readonly seed: number;
  /** What an earlier life of the training saved; null: it begins. */
  readonly saved: StrategyState | null;
  /** Elites that an algorithm with an archive begins with. */
  readonly elites?: FiledElites;
}

/** Opens one algorithm. Throws a `RangeError` where a saved state is not of this population. */
export type OpenStrategy<Chosen extends Algorithm> = (context: StrategyContext<Chosen>) => Promise<Strategy>;

/** A copy of a vector that a strategy saved. Throws a `RangeError` where it is not there or not so long. */
export function readVector(saved: StrategyState, name: string, length: number): Float64Array<ArrayBuffer> {
  const vector = saved[name];
  if (vector?.length !== length) {
    throw new RangeError(`the saved state has ${vector?.length ?? "no"} numbers of '${name}', not ${length}`);
  }
  return Float64Array.from(vector);
}
