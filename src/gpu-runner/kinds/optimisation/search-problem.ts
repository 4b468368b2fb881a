import type {
  Candidate,
  OptimisationSpec,
  OptimisationTargets,
  OptimisationTrial,
} from "../../../protocol/jobs/optimisation.ts";
import { mean } from "../../../stats/distribution/summary.ts";

/** Measurement of one candidate; null where the subject has no such quantity. */
export interface Measured {
  readonly throughputPerS: number;
  /** Latency at the percentile of the targets. */
  readonly latencyMs: number;
  readonly memoryBytes: number | null;
  readonly fidelity: number | null;
}

export type Miss = OptimisationTrial["misses"][number];

/** Missed targets, the worst first. Quantities that were not measured miss nothing. */
export function judgeMeasurement(measured: Measured, targets: OptimisationTargets): Miss[] {
  const { throughputPerS, latencyMs, memoryBytes, fidelity } = measured;
  return [
    judge("latencyMs", latencyMs, targets.latencyMs, "below"),
    judge("throughputPerS", throughputPerS, targets.throughputPerS, "above"),
    judge("memoryBytes", memoryBytes, targets.memoryBytes, "below"),
    judge("minFidelity", fidelity, targets.minFidelity, "above"),
  ]
    .filter((miss) => miss !== null)
    .toSorted((a, b) => b.factor - a.factor);
}

/** Distance from all targets: the worst factor, 1 where none is missed. */
export function worstFactor(misses: readonly Miss[]): number {
  return Math.max(1, ...misses.map(({ factor }) => factor));
}

function judge(
  target: Miss["target"],
  found: number | null,
  wanted: number | undefined,
  side: "below" | "above",
): Miss | null {
  if (found === null || wanted === undefined) return null;
  const factor = side === "below" ? found / wanted : wanted / found;
  // A value of zero counts as the largest finite factor.
  return factor > 1 ? { target, wanted, found, factor: Math.min(factor, Number.MAX_VALUE) } : null;
}

/**
 * Pooled measurement of several rounds of one candidate: geometric means of quantities that vary by shares, the largest
 * memory.
 */
export function poolMeasurements(rounds: readonly Measured[]): Measured {
  const [first, ...others] = rounds;
  if (first !== undefined && others.length === 0) return first;
  const geometric = (read: (round: Measured) => number) => Math.exp(mean(rounds.map((round) => Math.log(read(round)))));
  const known = rounds.map(({ memoryBytes }) => memoryBytes).filter((bytes) => bytes !== null);
  return {
    throughputPerS: geometric(({ throughputPerS }) => throughputPerS),
    latencyMs: geometric(({ latencyMs }) => latencyMs),
    memoryBytes: known.length === 0 ? null : Math.max(...known),
    fidelity: first?.fidelity ?? null,
  };
}

/** Search space with its targets and limits. */
export interface SearchProblem {
  readonly candidates: readonly Candidate[];
  /** Index of the current configuration, measured first; outside of the space it cannot win. */
  readonly standing: number | null;
  /** Number of candidates, from the first on, that belong to the space. */
  readonly eligible: number;
  readonly targets: OptimisationTargets;
  readonly objective: OptimisationSpec["objective"];
  /** Rows in flight at once. */
  readonly inFlight: (candidate: Candidate) => number;
  readonly budgetMs: number;
  /** Most measurements of the search, including repeated ones; those for the decision come on top. */
  readonly maxTrials: number;
  readonly seed: number;
}

/** Next measurement of a search. */
export interface SearchStep {
  readonly candidate: number;
  readonly phase: "default" | "design" | "search" | "confirm" | "decide";
  /** Measurements so far. */
  readonly done: number;
  /** Measurement of the best so far that reaches every target. */
  readonly best: Measured | null;
}

/** Result of a step, with the spent part of the budget. */
export type SearchReport = { readonly elapsedMs: number } & (
  | { readonly outcome: "measured"; readonly measured: Measured }
  | { readonly outcome: "failed" }
);

/** Candidate that was tried, in the order of first tries. */
export interface SearchTrial {
  readonly candidate: number;
  /** Empty where the candidate failed. */
  readonly rounds: readonly Measured[];
  readonly predicted: OptimisationTrial["predicted"];
}

export interface SearchOutcome {
  readonly trials: readonly SearchTrial[];
  /**
   * Index in `trials` of the best that reaches every target; null where none does.
   * The current configuration stays the best unless another one is significantly better.
   */
  readonly best: number | null;
  /** Without a best: index of the nearest trial; null where none could be measured. */
  readonly nearest: number | null;
  /** False where budget or trials ran out before the search converged or the decision was made. */
  readonly complete: boolean;
}

/** One measurement of a candidate. */
export interface TrialMeasurement extends Measured {
  readonly p50Ms: number;
  readonly queries: number;
}

/** Space whose candidates can be measured, one at a time. */
export interface TrialStand {
  readonly candidates: readonly Candidate[];
  /** Index of the current configuration; null without one. */
  readonly standing: number | null;
  /** Number of candidates, from the first on, that belong to the space. */
  readonly eligible: number;
  /** Rows of a candidate in flight at once. */
  inFlight(candidate: Candidate): number;
  /** Checks a candidate's answers, then measures it. Throws ProblemError on failure. */
  measure(index: number): Promise<TrialMeasurement>;
  close(): Promise<void>;
}
