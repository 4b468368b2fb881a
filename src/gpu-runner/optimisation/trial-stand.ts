import type { Candidate } from "../../protocol/optimisation.ts";
import type { Measured } from "./judge-measurement.ts";

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
