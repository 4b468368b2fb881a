import type { TuningTrial } from "../../src/protocol/jobs/tuning.ts";
import type { KernelAtShape } from "../kernel-at-shape.ts";

/** A variant with its axes. */
export type Choice = Pick<TuningTrial, "variant" | "axes">;

/** A kernel at a shape, with the runs of a batch. */
export interface TunerCase extends KernelAtShape {
  readonly runs: number;
  /** The textbook's variant, with its default axes. */
  readonly textbook: string;
  /** True if its whole space is searched, too. */
  readonly exhaustive: boolean;
}

/** A case as one contender runs it. */
export interface ChoiceCase extends TunerCase {
  readonly choice: Partial<Choice>;
}
