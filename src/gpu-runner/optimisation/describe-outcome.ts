import type { OptimisationResult, OptimisationSpec, OptimisationTrial } from "../../protocol/optimisation.ts";
import { createProblem, type Problem } from "../../protocol/problem.ts";
import { mean } from "../../stats/mean.ts";
import { paretoFront } from "../../stats/pareto-front.ts";
import { explainMiss } from "./explain-miss.ts";
import { judgeMeasurement } from "./judge-measurement.ts";
import { poolMeasurements } from "./pool-measurements.ts";
import type { SearchOutcome } from "./search-problem.ts";
import type { TrialMeasurement, TrialStand } from "./trial-stand.ts";

/** What a search measured, by place of the candidate: its rounds, or what kept it from being measured. */
export interface Measurements {
  readonly rounds: ReadonlyMap<number, readonly TrialMeasurement[]>;
  readonly problems: ReadonlyMap<number, Problem>;
}

type Described = Pick<
  OptimisationResult,
  "candidates" | "trials" | "default" | "best" | "pareto" | "infeasible" | "gain" | "complete"
>;

/** Makes a search's outcome what callers are told: trials in order, the best, the front, and what cannot be met. */
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

/** Places of the trials that no other beats; what was not measured counts as worst, and not where it never was. */
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
