import type { EnvironmentSpec } from "../../../kernels/environments/environment-spec.ts";
import type { JobArtifactName } from "../../protocol/jobs/job-artifact.ts";
import type { Algorithm, SpeciesCensus, TrainingResult } from "../../protocol/jobs/training.ts";
import type { PolicyNetwork } from "../../protocol/models/policy-network.ts";
import type { FiledElites } from "../../protocol/policies/archive-file.ts";
import type { Population } from "../rollout/population.ts";

/** Scores of each member from the episodes of one generation. */
export interface MemberResults {
  readonly generation: number;
  /** Mean return; NaN for a member that failed in any episode. */
  readonly fitness: Float64Array;
  /** Mean behaviour: members × measures of the environment, NaN for a member that failed. */
  readonly measures: Float64Array;
}

/** State of a strategy between generations, as a checkpoint keeps it. */
export type StrategyState = Readonly<
  Record<string, Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>
>;

/** File that a strategy leaves beside the best policy. */
export interface LeftFile {
  readonly name: JobArtifactName;
  readonly mediaType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Algorithm at work on a population: it chooses the members and learns from their scores (ask and tell). The population
 * holds the members, the strategy their distribution. All randomness is drawn by counter from the seed and the
 * generation, so that a strategy reopened with `save`'s state continues as if it had never stopped.
 */
export interface Strategy {
  /** Makes the members of a generation on the population; the first is 0. */
  ask(generation: number): Promise<void>;
  /** Learns from the scores of all members of the last generation. */
  tell(results: MemberResults): Promise<void>;
  /** Policy of the current state, one row; not called before the first `tell`. */
  policy(): Promise<Float32Array<ArrayBuffer>>;
  /** State after the last `tell`, in copies that later generations do not change. */
  save(): Promise<StrategyState>;
  /** Species of the members of the last `tell`, where the algorithm has any. */
  takeCensus?(): SpeciesCensus | null;
  /** Files of the training beside the policy, once it has ended; their names are unique. */
  leave?(): Promise<readonly LeftFile[]>;
  /** Summary of the archive for the result, where the algorithm has one. */
  describeArchive?(): Promise<TrainingResult["qualityDiversity"]>;
  /** Releases its resources beside the population. */
  release?(): Promise<void>;
}

/** Inputs of a strategy. */
export interface StrategyContext<Chosen extends Algorithm = Algorithm> {
  readonly algorithm: Chosen;
  readonly environment: EnvironmentSpec;
  readonly network: PolicyNetwork;
  /** Population of the algorithm's size; only the strategy changes its members. */
  readonly population: Population;
  readonly seed: number;
  /** State that an earlier run of the training saved; null at the start. */
  readonly saved: StrategyState | null;
  /** Elites that an algorithm with an archive starts with. */
  readonly elites?: FiledElites;
}

/** Opens one algorithm. Throws a `RangeError` where a saved state does not fit this population. */
export type OpenStrategy<Chosen extends Algorithm> = (context: StrategyContext<Chosen>) => Promise<Strategy>;

/** Copy of a vector that a strategy saved. Throws a `RangeError` where it is missing or of another length. */
export function readVector(saved: StrategyState, name: string, length: number): Float64Array<ArrayBuffer> {
  const vector = saved[name];
  if (vector?.length !== length) {
    throw new RangeError(`the saved state has ${vector?.length ?? "no"} numbers of '${name}', not ${length}`);
  }
  return Float64Array.from(vector);
}
