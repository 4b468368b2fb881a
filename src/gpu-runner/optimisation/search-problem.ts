import type {
  Candidate,
  OptimisationSpec,
  OptimisationTargets,
  OptimisationTrial,
} from "../../protocol/optimisation.ts";
import type { Measured } from "./judge-measurement.ts";

/** What is to be searched. */
export interface SearchProblem {
  readonly candidates: readonly Candidate[];
  /** What is served now, which is measured first and may lie outside of the space: then it cannot win. */
  readonly standing: number | null;
  /** So many of the candidates, from the first on, are the space. */
  readonly eligible: number;
  readonly targets: OptimisationTargets;
  readonly objective: OptimisationSpec["objective"];
  /** Rows that are in flight at once. */
  readonly inFlight: (candidate: Candidate) => number;
  readonly budgetMs: number;
  /** Measurements of the search at most, repeated ones among them; those that decide come on top. */
  readonly maxTrials: number;
  readonly seed: number;
}

/** What is to be measured next. */
export interface SearchStep {
  readonly candidate: number;
  readonly phase: "default" | "design" | "search" | "confirm" | "decide";
  /** Measurements so far. */
  readonly done: number;
  /** What the best so far that reaches every target comes to. */
  readonly best: Measured | null;
}

/** What that came to, and how much of the budget is spent. */
export type SearchReport = { readonly elapsedMs: number } & (
  | { readonly outcome: "measured"; readonly measured: Measured }
  | { readonly outcome: "failed" }
);

/** A candidate that was tried, by the order of first tries. */
export interface SearchTrial {
  readonly candidate: number;
  /** Empty where it failed. */
  readonly rounds: readonly Measured[];
  readonly predicted: OptimisationTrial["predicted"];
}

export interface SearchOutcome {
  readonly trials: readonly SearchTrial[];
  /**
   * Place in `trials` of the best that reaches every target, which is what is served now unless another one is surely
   * better; null where none does.
   */
  readonly best: number | null;
  /** Where none does: place of the trial that comes nearest; null where none could be measured. */
  readonly nearest: number | null;
  /** False where budget or trials ended before nothing more was promised, or before it was decided. */
  readonly complete: boolean;
}
