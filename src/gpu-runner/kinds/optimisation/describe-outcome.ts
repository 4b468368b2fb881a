import type {
  Candidate,
  OptimisationResult,
  OptimisationSpec,
  OptimisationTrial,
} from "../../../protocol/jobs/optimisation.ts";
import { createProblem, type Problem } from "../../../protocol/wire/problem.ts";
import { paretoFront } from "../../../stats/compare/trade-offs.ts";
import { mean } from "../../../stats/distribution/summary.ts";
import {
  judgeMeasurement,
  type Miss,
  poolMeasurements,
  type SearchOutcome,
  type TrialMeasurement,
  type TrialStand,
} from "./search-problem.ts";

type Target = Miss["target"];

/** Number in three significant digits for readers. */
function format(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString("en-GB", { maximumSignificantDigits: 3 });
}

const UNITS: Readonly<Record<Target, (value: number) => string>> = {
  latencyMs: (value) => `${format(value)} ms`,
  throughputPerS: (value) => `${format(value)}/s`,
  memoryBytes: (value) => `${format(value / 2 ** 20)} MiB`,
  minFidelity: (value) => `a fidelity of ${format(value)}`,
};

const NAMES: Readonly<Record<Target, string>> = {
  latencyMs: "latency",
  throughputPerS: "throughput",
  memoryBytes: "memory",
  minFidelity: "fidelity",
};

/**
 * Explains which targets cannot be met, the nearest candidate, and the targets that it would meet.
 * `misses` are those of the nearest candidate, the worst first.
 */
function explainMiss(candidate: Candidate, misses: readonly Miss[], percentile: number, complete: boolean): string {
  const nameOf = (target: Target) => (target === "latencyMs" ? `p${format(percentile * 100)} latency` : NAMES[target]);
  const missed = misses.map(
    ({ target, wanted, found, factor }) =>
      `${nameOf(target)} is ${UNITS[target](found)} where ${UNITS[target](wanted)} is wanted (${format(factor)} times ${worse(target)})`,
  );
  const would = misses.map(({ target, found }) => `${target} ${UNITS[target](found)}`);
  const tried = complete ? "No configuration reaches every target" : "Nothing that was tried reaches every target";
  return `${tried}. Nearest is ${describeCandidate(candidate)}: ${missed.join("; ")}. It would meet ${would.join(" and ")}.`;
}

export function describeCandidate({ deviceKey, backend, variant, threads, maxRows, concurrency, axes }: Candidate) {
  const place = `${variant} by ${backend} on ${deviceKey}`;
  if (axes !== undefined) {
    const settings = Object.entries(axes).map(([name, value]) => `${name} ${value}`);
    return [place, ...settings, `batches of ${maxRows}`].join(", ");
  }
  return `${place}, ${threads} ${threads === 1 ? "thread" : "threads"}, batches up to ${maxRows}, ${concurrency} in flight`;
}

function worse(target: Target): string {
  if (target === "latencyMs") return "too slow";
  return target === "memoryBytes" ? "too much" : "too little";
}

/** Measurements of a search by candidate index: the rounds, or the reason for having none. */
export interface Measurements {
  readonly rounds: ReadonlyMap<number, readonly TrialMeasurement[]>;
  readonly problems: ReadonlyMap<number, Problem>;
}

type Described = Pick<
  OptimisationResult,
  "candidates" | "trials" | "default" | "best" | "pareto" | "infeasible" | "gain" | "complete"
>;

/** Describes a search's outcome for callers: trials in order, the best, the front, and targets that cannot be met. */
export function describeOutcome(
  { targets }: Pick<OptimisationSpec, "targets">,
  { candidates, standing, eligible }: Pick<TrialStand, "candidates" | "standing" | "eligible">,
  outcome: SearchOutcome,
  measurements: Measurements,
): Described {
  const trials = outcome.trials.map((trial): OptimisationTrial => {
    const candidate = candidates[trial.candidate]!;
    const rounds = measurements.rounds.get(trial.candidate) ?? [];
    const problem = measurements.problems.get(trial.candidate) ?? null;
    if (trial.rounds.length === 0) return describeFailure(candidate, problem, trial.predicted);
    const measured = poolMeasurements(rounds);
    return {
      candidate,
      outcome: "measured",
      problem: null,
      ...measured,
      p50Ms: mean(rounds.map(({ p50Ms }) => p50Ms)),
      queries: rounds.reduce((sum, { queries }) => sum + queries, 0),
      rounds: rounds.length,
      predicted: trial.predicted,
      misses: judgeMeasurement(measured, targets),
    };
  });
  const { best, nearest, complete } = outcome;
  const standingTrial = outcome.trials.findIndex(({ candidate }) => candidate === standing);
  const nearestTrial = nearest === null ? undefined : trials[nearest];
  return {
    candidates: eligible,
    trials,
    default: standingTrial < 0 ? null : standingTrial,
    best,
    pareto: findFront(trials),
    infeasible:
      nearest === null || nearestTrial === undefined
        ? null
        : {
            nearest,
            misses: nearestTrial.misses,
            detail: explainMiss(nearestTrial.candidate, nearestTrial.misses, targets.percentile, complete).slice(
              0,
              512,
            ),
          },
    gain: best === null || standingTrial < 0 ? null : compare(trials[best]!, trials[standingTrial]!),
    complete,
  };
}

function describeFailure(
  candidate: OptimisationTrial["candidate"],
  problem: Problem | null,
  predicted: OptimisationTrial["predicted"],
): OptimisationTrial {
  return {
    candidate,
    outcome: "failed",
    problem: problem ?? createProblem("backend-failed", "It could not be measured."),
    throughputPerS: null,
    p50Ms: null,
    latencyMs: null,
    memoryBytes: null,
    fidelity: null,
    queries: 0,
    rounds: 1,
    predicted,
    misses: [],
  };
}

/**
 * Indices of the trials that no other dominates; a missing value counts as worst, or is ignored where no trial has it.
 */
function findFront(trials: readonly OptimisationTrial[]): number[] {
  const measured = [...trials.keys()].filter((index) => trials[index]!.outcome === "measured");
  return paretoFront(measured, ["higher", "lower", "lower", "higher"], (index) => {
    const { throughputPerS, latencyMs, memoryBytes, fidelity } = trials[index]!;
    return [throughputPerS ?? 0, latencyMs ?? Infinity, memoryBytes ?? Infinity, fidelity ?? 0];
  });
}

function compare(best: OptimisationTrial, standing: OptimisationTrial): OptimisationResult["gain"] {
  const ratio = (over: number | null, under: number | null) => (over === null || under === null ? null : over / under);
  return {
    throughput: ratio(best.throughputPerS, standing.throughputPerS),
    latency: ratio(standing.latencyMs, best.latencyMs),
  };
}
