import type { TraceOutcome } from "./put-trace.ts";
import type { Trace } from "./trace.ts";

/** Statuses of a refusal: `budget-unattainable` and `overloaded`. */
const REFUSALS: ReadonlySet<number | null> = new Set([422, 503]);

/**
 * Score of a round. Every request that was not refused counts as admitted, so dropped and unanswered ones are admitted
 * and late. Percentiles are of the admitted requests' latencies; an unanswered one counts with its wait, which is too
 * little. Where all were refused, shares and percentiles of the admitted are 0.
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
    "in budget of admitted": (100 * inBudget) / Math.max(1, admitted.length),
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
  return sorted[Math.floor(share * sorted.length)] ?? 0;
}
