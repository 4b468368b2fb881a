import type { TraceOutcome } from "./put-trace.ts";
import type { Trace } from "./trace.ts";

/** Statuses by which a server says no: `budget-unattainable` and `overloaded`. */
const REFUSALS: ReadonlySet<number | null> = new Set([422, 503]);

/**
 * What a round comes to. Admitted is whatever was not refused, so what was dropped or never answered
 * counts as admitted and late. Percentiles are of the admitted requests' latencies; where no answer
 * came they hold what the request had waited, which is too little.
 */
export function scoreRound({ requests, durationMs }: Trace, outcomes: readonly TraceOutcome[]) {
  const admitted = outcomes.filter(({ status }) => !REFUSALS.has(status));
  const inBudget = outcomes.filter(
    ({ status, latencyMs }, index) => status === 200 && latencyMs <= requests[index]!.budgetMs,
  ).length;
  const latencies = sortNumbers(admitted.map(({ latencyMs }) => latencyMs));
  const lags = sortNumbers(outcomes.map(({ lagMs }) => lagMs));
  return {
    goodput: (1e3 * inBudget) / durationMs,
    "in budget of admitted": (100 * inBudget) / admitted.length,
    refused: (100 * (outcomes.length - admitted.length)) / outcomes.length,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    "p99 lateness of the generator": quantile(lags, 0.99),
  };
}

function sortNumbers(values: readonly number[]): Float64Array {
  return Float64Array.from(values).toSorted();
}

function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
}
