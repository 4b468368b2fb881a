import { leastMsOf, type Scenario } from "../../../protocol/models/scenario.ts";
import { leastQueries } from "../../../stats/sequential/early-stopping.ts";

/**
 * MLPerf's full length: time of every scenario, and samples of an offline one.
 * Source: mlcommons/inference_policies, inference_rules.adoc.
 */
const FULL_MS = 600_000;
const FULL_OFFLINE_SAMPLES = 24_576;

/** Length of a run: `durationMs` is the shortest of several. */
export interface RunLength {
  readonly durationMs: number;
  readonly queries: number;
  readonly samples: number;
}

/** Whether a run is shorter than MLPerf's full length, and so never a valid MLPerf result. */
export function isShort(scenario: Scenario, { durationMs, queries, samples }: RunLength): boolean {
  if (durationMs < FULL_MS) return true;
  if (scenario.kind === "offline") return samples < FULL_OFFLINE_SAMPLES;
  return queries < fewestQueries(scenario);
}

/** Fewest queries for early stopping: for any estimate of a stream, and for a server without a query over the bound. */
export function fewestQueries({ kind, percentile }: Exclude<Scenario, { kind: "offline" }>): number {
  return leastQueries(percentile, kind === "server" ? 0 : 1);
}

/** Time for a scenario's warm-up and its last answers. */
const AROUND_MS = 1_000;

/**
 * Deadline of the first scenario that leaves each of the others its minimum time.
 * Searching scenarios share the spare time; the others end by themselves, and may use all of it.
 */
export function shareTime(scenarios: readonly Scenario[], nowMs: number, endMs: number): number {
  const [first, ...later] = scenarios;
  if (first === undefined) return endMs;
  const wantedMs = (scenario: Scenario) => leastMsOf(scenario) + AROUND_MS;
  const laterMs = later.reduce((sum, scenario) => sum + wantedMs(scenario), 0);
  const spareMs = endMs - nowMs - laterMs - wantedMs(first);
  if (spareMs <= 0) return Math.min(endMs, nowMs + wantedMs(first));
  const searches = scenarios.filter(isSearch).length;
  return nowMs + wantedMs(first) + (isSearch(first) ? spareMs / searches : spareMs);
}

/** Whether a scenario runs for as long as it may, and has a result whenever it ends. */
export function isSearch(scenario: Scenario): boolean {
  return scenario.kind === "server" && scenario.ratePerS === undefined;
}
