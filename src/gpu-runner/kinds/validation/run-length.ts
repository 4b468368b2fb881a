import { leastMsOf, type Scenario } from "../../../protocol/models/scenario.ts";
import { leastQueries } from "../../../stats/sequential/early-stopping.ts";

/** MLPerf's full length (mlcommons/inference_policies, inference_rules.adoc): time of every scenario, and samples of an offline one. */
const FULL_MS = 600_000;
const FULL_OFFLINE_SAMPLES = 24_576;

/** What a run had: `durationMs` of the shortest where there were several. */
export interface RunLength {
  readonly durationMs: number;
  readonly queries: number;
  readonly samples: number;
}

/** Whether a run is shorter than MLPerf's full length, and so never a result that is valid there. */
export function isShort(scenario: Scenario, { durationMs, queries, samples }: RunLength): boolean {
  if (durationMs < FULL_MS) return true;
  if (scenario.kind === "offline") return samples < FULL_OFFLINE_SAMPLES;
  return queries < fewestQueries(scenario);
}

/** As few queries as early stopping needs: of a stream for any estimate, of a server where none is over the bound. */
export function fewestQueries({ kind, percentile }: Exclude<Scenario, { kind: "offline" }>): number {
  return leastQueries(percentile, kind === "server" ? 0 : 1);
}

/** A scenario warms up first, and its last answers take their time. */
const AROUND_MS = 1_000;

/**
 * When the first of these scenarios has to be over, so that each of the others still has the time that it takes at
 * least. What is to spare is shared by those that search; the others end by themselves, and may take all of it.
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

/** Whether a scenario goes on for as long as it may, and has a result whenever it ends. */
export function isSearch(scenario: Scenario): boolean {
  return scenario.kind === "server" && scenario.ratePerS === undefined;
}
