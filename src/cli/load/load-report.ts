import { summarise } from "../../stats/distribution.ts";
import type { LoadOutcome } from "./open-loop.ts";

/** What a load showed. Latencies are of answered requests, from their scheduled arrival. */
export interface LoadReport {
  readonly requests: number;
  /** How long requests arrived. */
  readonly durationMs: number;
  readonly offeredPerSecond: number;
  /** Answers within their budget, per second of the load. */
  readonly goodputPerSecond: number;
  /** Requests by how they ended. */
  readonly results: Readonly<Record<string, number>>;
  /** Of those that were answered at all, the share within the budget; null where none was. */
  readonly inBudgetShare: number | null;
  readonly latencyMs: Quantiles | null;
  /** How far the generator was behind its own schedule: above some milliseconds the figures are its, too. */
  readonly lagMs: Quantiles | null;
}

interface Quantiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** Sums up outcomes of a load whose requests arrived for so long. */
export function reportLoad(outcomes: readonly LoadOutcome[], durationMs: number): LoadReport {
  const results: Record<string, number> = {};
  for (const { result } of outcomes) results[result] = (results[result] ?? 0) + 1;
  const answered = outcomes.filter(({ result }) => result === "ok" || result === "late");
  const inBudget = results["ok"] ?? 0;
  return {
    requests: outcomes.length,
    durationMs,
    offeredPerSecond: (1e3 * outcomes.length) / durationMs,
    goodputPerSecond: (1e3 * inBudget) / durationMs,
    results,
    inBudgetShare: answered.length === 0 ? null : inBudget / answered.length,
    latencyMs: quantilesOf(answered.map(({ latencyMs }) => latencyMs)),
    lagMs: quantilesOf(outcomes.map(({ lagMs }) => lagMs)),
  };
}

function quantilesOf(values: readonly number[]): Quantiles | null {
  if (values.length === 0) return null;
  const { p50, p90, p99, max } = summarise(values);
  return { p50, p90, p99, max };
}
