import type { Breeding } from "../../../kernels/rollout/breed.reference.ts";
import type { NoiseKey } from "../../../kernels/rollout/noise.reference.ts";
import type { Archive, ArchiveGrid } from "./archive.ts";
import type { Backend } from "../../protocol/fleet/hardware.ts";

/** What episodes of a population are rolled out. */
export interface EpisodePlan {
  readonly seed: number;
  readonly firstEpisode: number;
  readonly episodes: number;
  /** The same draws for the same episode of every member, so that members differ by their policies alone. */
  readonly commonRandom: boolean;
}

/** Every episode of every member: members × episodes, the episodes of one member together. */
export interface EpisodeResults {
  readonly returns: Float32Array<ArrayBuffer>;
  readonly lengths: Uint32Array<ArrayBuffer>;
  /** Bits of `CAUSES`. */
  readonly causes: Uint8Array<ArrayBuffer>;
  /** Behaviour by the last state: members × episodes × measures. */
  readonly measures: Float32Array<ArrayBuffer>;
  /** 1 for each member that has a weight which is NaN or infinite: all its episodes failed before their first step. */
  readonly unsound: Uint8Array<ArrayBuffer>;
  /** Parts in which they went, where they exceed the memory or the limits of a device; 1: whole. */
  readonly waves: number;
}

/** How a long call is watched and ended early. */
export interface RolloutWatch {
  readonly signal?: AbortSignal;
  /** Steps that are taken or that an ended episode saved, of the most that there may be. Never less than before. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Policies of one form with weights of their own, in one environment, where a backend has them. Rows are members in
 * the layout of policy-layout.ts. One call at a time.
 */
export interface Population {
  readonly backend: Extract<Backend, "wgsl" | "cpu-simd">;
  readonly members: number;
  readonly parameters: number;
  /** Puts rows of members, from `first` on. */
  write(first: number, rows: Float32Array<ArrayBuffer>): Promise<void>;
  read(first: number, count: number): Promise<Float32Array<ArrayBuffer>>;
  /**
   * Every member becomes mean + sigma ⊙ ε, ε standard normal of (seed, generation, member, parameter); with `mirrored`
   * each odd member has the negative ε of the one before.
   */
  perturb(noise: NoiseKey & { readonly mean: Float32Array; readonly sigma: Float32Array }): Promise<void>;
  /** Σ over members of utility · ε and, where asked for, of utility · ε², of the same noise: one number for each parameter. */
  recombine(
    noise: NoiseKey & { readonly utilities: Float32Array; readonly squares: boolean },
  ): Promise<{ readonly sums: Float32Array; readonly squares: Float32Array | null }>;
  /** An archive whose genomes stay on the device; absent where members are in the host's memory. */
  openArchive?(grid: ArchiveGrid): Promise<Archive>;
  /** Every member is made anew out of two of the present ones; see `breedMember`. */
  breed(breeding: Breeding): Promise<void>;
  evaluate(plan: EpisodePlan, watch?: RolloutWatch): Promise<EpisodeResults>;
  release(): Promise<void>;
}
