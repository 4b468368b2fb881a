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

/** Candidate that was tried, with its measurements so far. */
export interface OpenTrial extends SearchTrial {
  readonly rounds: Measured[];
  failed: boolean;
}

/** Measurements of a search, with their rating by targets and objective. */
export class TrialLog {
  readonly #problem: SearchProblem;
  readonly #trials: OpenTrial[] = [];
  #done = 0;
  #elapsedMs = 0;

  constructor(problem: SearchProblem) {
    this.#problem = problem;
  }

  /** Tried candidates, in order. */
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

  /** Mean duration of a measurement so far; 0 before the first. */
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

  /** Samples of all measurements, one each. */
  samples(): Sample[] {
    return this.#trials.flatMap(({ candidate, rounds, failed }): Sample[] =>
      failed ? [{ candidate, measured: null }] : rounds.map((measured) => ({ candidate, measured })),
    );
  }

  /** Trials of the space that did not fail, the best by the objective first. */
  measured(): OpenTrial[] {
    return this.#trials
      .filter(({ candidate, failed }) => !failed && candidate < this.#problem.eligible)
      .toSorted((a, b) => this.valueOf(b) - this.valueOf(a));
  }

  /** Measured trials that reach every target. */
  feasible(): OpenTrial[] {
    return this.measured().filter((trial) => this.factorOf(trial) === 1);
  }

  /** The trial with the smallest worst factor. */
  nearest(): OpenTrial | undefined {
    return this.measured().toSorted((a, b) => this.factorOf(a) - this.factorOf(b))[0];
  }

  /** Factor of the most missed target; 1 where none is missed. */
  factorOf({ rounds }: OpenTrial): number {
    return worstFactor(judgeMeasurement(poolMeasurements(rounds), this.#problem.targets));
  }

  /** Logarithm of the objective: larger is better. */
  valueOf({ rounds }: OpenTrial): number {
    return Math.log(this.scoreOf(poolMeasurements(rounds)));
  }

  /** Objective of one measurement: answers a second, or the inverse of its latency in milliseconds. */
  scoreOf({ throughputPerS, latencyMs }: Measured): number {
    return this.#problem.objective === "throughput" ? throughputPerS : 1 / latencyMs;
  }
}
