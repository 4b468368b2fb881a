import type { Scenario } from "../../protocol/scenario.ts";
import { leastQueries } from "../../stats/early-stopping.ts";

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
