import type { RolloutEnvironment } from "../../src/protocol/fleet/rollout-environment.ts";
import type { Draws } from "../../src/stats/random/draws.ts";

/** Result of one step, beside the next state. */
export interface Transition {
  readonly reward: number;
  /** The environment has ended; a limit of steps is the engine's affair and no end of it. */
  readonly terminated: boolean;
}

/**
 * An environment on the CPU in f64: the reference of its WGSL. A state is one array of numbers in the order of the
 * spec's `state`, and so is an action: one index of a discrete action, or its components.
 */
export interface EnvironmentReference {
  /** Fills a state for a new episode. */
  reset(state: Float64Array, draws: Draws): void;
  observe(state: Float64Array, observation: Float64Array): void;
  /** Moves the state one step on. */
  step(state: Float64Array, action: Float64Array, draws: Draws): Transition;
  /** Behaviour of an episode by its last state, for quality diversity. */
  measure?(state: Float64Array, measures: Float64Array): void;
}

export type ObservationForm = "numbers" | "bits" | "frames";

/** The AssemblyScript of an environment: a file of its folder, shared files, and the lanes that it moves at a time. */
export interface EnvironmentAssembly {
  readonly file: string;
  readonly shared?: readonly URL[];
  readonly lanes: 1 | 4;
  /** Vectors of its own behind the state. */
  readonly spareVectors?: number;
}

/** So many words of one type in the WGSL struct `State`, in its order; structs are laid out without gaps. */
export interface StateField {
  readonly name: string;
  readonly type: "f32" | "i32" | "u32";
  readonly count: number;
}

/**
 * Everything that is known of an environment beside its WGSL, which declares `State`, `reset`, `observe` and `step`
 * (and `measure`, where it has measures); see compose-rollout.ts for the files around it.
 */
export interface EnvironmentSpec extends RolloutEnvironment {
  /** The folder of its .wgsl file. */
  readonly folder: URL;
  readonly file: string;
  /** WGSL files that it needs, such as the one for sticky actions. */
  readonly shared?: readonly URL[];
  /**
   * The type of `Observation` in the WGSL: an array of f32; `bits`, zeros and ones in words of 32, whose zeros policies pass
   * over; or `frames`, the cells of four pictures (frames.wgsl). Numbers where it is absent.
   */
  readonly observationForm?: ObservationForm;
  /** The WGSL itself, of one that has no file: it came from a user. */
  readonly code?: string;
  readonly state: readonly StateField[];
  /** Its twin in AssemblyScript; absent: it runs on WGSL only. */
  readonly assembly?: EnvironmentAssembly;
  /** Further `const`s of its WGSL by name, such as a mode; a string is an expression of WGSL. */
  readonly constants?: Readonly<Record<string, number | boolean | string>>;
  /** Absent of an environment that came from a user. */
  readonly reference?: EnvironmentReference;
}

/** Words of the four frames of frames.wgsl: ten rows each. */
export const FRAME_WORDS = 40;

/** Words of a state, which are also the numbers of one on the CPU. */
export function countStateWords({ state }: Pick<EnvironmentSpec, "state">): number {
  return state.reduce((sum, { count }) => sum + count, 0);
}

/** Words of `Observation` in the WGSL. */
export function countObservationWords({ observationForm, observationSize }: EnvironmentSpec): number {
  if (observationForm === "frames") return FRAME_WORDS;
  return observationForm === "bits" ? Math.ceil(observationSize / 32) : observationSize;
}
