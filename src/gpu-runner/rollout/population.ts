import type { Breeding } from "../../../kernels/rollout/breed.reference.ts";
import type { NoiseKey } from "../../../kernels/rollout/noise.reference.ts";
import type { Archive, ArchiveGrid } from "./archive.ts";
import type { Backend } from "../../protocol/fleet/hardware.ts";

/** Episodes of a population's rollout. */
export interface EpisodePlan {
  readonly seed: number;
  readonly firstEpisode: number;
  readonly episodes: number;
  /** Number of the first member in its draws, for a part of a larger population on a GPU; 0 where absent. */
  readonly firstMember?: number;
  /** Whether the same episode of every member has the same draws, so that members differ by their policies alone. */
  readonly commonRandom: boolean;
}

/** Results of every episode of every member: members × episodes, the episodes of one member together. */
export interface EpisodeResults {
  readonly returns: Float32Array<ArrayBuffer>;
  readonly lengths: Uint32Array<ArrayBuffer>;
  /** Bits of `CAUSES`. */
  readonly causes: Uint8Array<ArrayBuffer>;
  /** Behaviour in the last state: members × episodes × measures. */
  readonly measures: Float32Array<ArrayBuffer>;
  /** 1 for each member with a weight that is NaN or infinite: all its episodes failed before their first step. */
  readonly unsound: Uint8Array<ArrayBuffer>;
  /** Number of parts that were played in turn, where the whole exceeds memory or limits of the device. */
  readonly waves: number;
}

/** Progress and cancellation of a long call. */
export interface RolloutWatch {
  readonly signal?: AbortSignal;
  /** Steps that are taken, or saved by an ended episode, of the most possible. Never decreases. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Policies of one form with separate weights, in one environment, on a backend. Rows are members in the layout of
 * policy-layout.ts. One call at a time.
 */
export interface Population {
  readonly backend: Extract<Backend, "wgsl" | "cpu-simd">;
  readonly members: number;
  readonly parameters: number;
  /** Writes rows of members, from `first` on. */
  write(first: number, rows: Float32Array<ArrayBuffer>): Promise<void>;
  read(first: number, count: number): Promise<Float32Array<ArrayBuffer>>;
  /**
   * Sets every member to mean + sigma ⊙ ε, with ε standard normal of (seed, generation, member, parameter). With
   * `mirrored`, each odd member has the negative ε of the one before.
   */
  perturb(noise: NoiseKey & { readonly mean: Float32Array; readonly sigma: Float32Array }): Promise<void>;
  /**
   * Σ over members of utility · ε and, on request, of utility · ε², with the same noise: one number for each parameter.
   */
  recombine(
    noise: NoiseKey & { readonly utilities: Float32Array; readonly squares: boolean },
  ): Promise<{ readonly sums: Float32Array; readonly squares: Float32Array | null }>;
  /** Archive whose genomes stay on the device; absent where members are in the host's memory. */
  openArchive?(grid: ArchiveGrid): Promise<Archive>;
  /** Replaces every member with a child of two present ones; see `breedMember`. */
  breed(breeding: Breeding): Promise<void>;
  evaluate(plan: EpisodePlan, watch?: RolloutWatch): Promise<EpisodeResults>;
  release(): Promise<void>;
}

/** Rolls a population out on devices that the caller chose; see `Population.evaluate`. */
export type RollOutElsewhere = (
  request: { readonly weights: Float32Array<ArrayBuffer> } & EpisodePlan,
) => Promise<EpisodeResults>;
