import type {
  Candidate,
  OptimisationSpec,
  OptimisationTargets,
  OptimisationTrial,
} from "../../../protocol/jobs/optimisation.ts";
import { mean } from "../../../stats/distribution/summary.ts";

/** What one candidate came to; null where it is not measured of such a subject. */
export interface Measured {
  readonly throughputPerS: number;
  /** At the percentile of the targets. */
  readonly latencyMs: number;
  readonly memoryBytes: number | null;
  readonly fidelity: number | null;
}

export type Miss = OptimisationTrial["misses"][number];

/** The targets that something misses, the worst first. What was not measured misses nothing. */
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

/** How far it is from all targets: the worst factor, 1 where none is missed. */
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
  // Nothing at all is as far off as a number can be.
  return factor > 1 ? { target, wanted, found, factor: Math.min(factor, Number.MAX_VALUE) } : null;
}

/** Several measurements of one candidate as one: geometric means of what varies by shares, the largest memory. */
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

/** One measurement of a candidate. */
export interface TrialMeasurement extends Measured {
  readonly p50Ms: number;
  readonly queries: number;
}

/** A space whose candidates can be measured, one at a time. */
export interface TrialStand {
  readonly candidates: readonly Candidate[];
  /** What runs now, by its place; null where nothing does. */
  readonly standing: number | null;
  /** So many of the candidates, from the first on, are the space. */
  readonly eligible: number;
  /** Rows that a candidate has in flight at once. */
  inFlight(candidate: Candidate): number;
  /** Checks what a candidate answers, then measures it. Throws ProblemError where it cannot be. */
  measure(index: number): Promise<TrialMeasurement>;
  close(): Promise<void>;
}
