import type { TuningTrial } from "../../src/protocol/jobs/tuning.ts";
import type { KernelAtShape } from "../kernel-at-shape.ts";

/** A variant with its axes. */
export type Choice = Pick<TuningTrial, "variant" | "axes">;

/** A kernel at a shape, so many runs a batch. */
export interface TunerCase extends KernelAtShape {
  readonly runs: number;
  /** The variant that the textbook would have, as it is by itself. */
  readonly textbook: string;
  /** Whether its whole space is searched, too. */
  readonly exhaustive: boolean;
}

/** A case as one contender runs it. */
export interface ChoiceCase extends TunerCase {
  readonly choice: Partial<Choice>;
}
