import {
  judgeMeasurement,
  type Measured,
  poolMeasurements,
  type SearchProblem,
  type SearchReport,
  type SearchTrial,
  worstFactor,
} from "./search-problem.ts";
import type { Sample } from "./cost-model.ts";

/** A candidate that was tried, and what it came to so far. */
export interface OpenTrial extends SearchTrial {
  readonly rounds: Measured[];
  failed: boolean;
}

/** What a search has measured, and how good that is by its targets and objective. */
export class TrialLog {
  readonly #problem: SearchProblem;
  readonly #trials: OpenTrial[] = [];
  #done = 0;
  #elapsedMs = 0;

  constructor(problem: SearchProblem) {
    this.#problem = problem;
  }

  /** Candidates that were tried, in order. */
  get trials(): readonly OpenTrial[] {
    return this.#trials;
  }

  /** Measurements so far. */
  get done(): number {
    return this.#done;
  }

  get elapsedMs(): number {
    return this.#elapsedMs;
  }

  /** Of a measurement so far, on average; 0 before the first. */
  get usualMs(): number {
    return this.#done === 0 ? 0 : this.#elapsedMs / this.#done;
  }

  find(candidate: number): OpenTrial | undefined {
    return this.#trials.find((trial) => trial.candidate === candidate);
  }

  note(candidate: number, predicted: SearchTrial["predicted"], report: SearchReport): void {
    const known = this.find(candidate);
    const trial = known ?? { candidate, rounds: [], predicted, failed: false };
    if (known === undefined) this.#trials.push(trial);
    if (report.outcome === "measured") trial.rounds.push(report.measured);
    else trial.failed = true;
    this.#done++;
    this.#elapsedMs = report.elapsedMs;
  }

  /** Every measurement by itself. */
  samples(): Sample[] {
    return this.#trials.flatMap(({ candidate, rounds, failed }): Sample[] =>
      failed ? [{ candidate, measured: null }] : rounds.map((measured) => ({ candidate, measured })),
    );
  }

  /** Those of the space that did not fail, the best by the objective first. */
  measured(): OpenTrial[] {
    return this.#trials
      .filter(({ candidate, failed }) => !failed && candidate < this.#problem.eligible)
      .toSorted((a, b) => this.valueOf(b) - this.valueOf(a));
  }

  /** Those of them that reach every target. */
  feasible(): OpenTrial[] {
    return this.measured().filter((trial) => this.factorOf(trial) === 1);
  }

  /** That whose worst factor is smallest. */
  nearest(): OpenTrial | undefined {
    return this.measured().toSorted((a, b) => this.factorOf(a) - this.factorOf(b))[0];
  }

  /** By how much it misses the target that it misses most; 1 where it misses none. */
  factorOf({ rounds }: OpenTrial): number {
    return worstFactor(judgeMeasurement(poolMeasurements(rounds), this.#problem.targets));
  }

  /** The objective as a logarithm: the more the better. */
  valueOf({ rounds }: OpenTrial): number {
    return Math.log(this.scoreOf(poolMeasurements(rounds)));
  }

  /** The objective of one measurement: answers a second, or how often its latency fits into a millisecond. */
  scoreOf({ throughputPerS, latencyMs }: Measured): number {
    return this.#problem.objective === "throughput" ? throughputPerS : 1 / latencyMs;
  }
}
