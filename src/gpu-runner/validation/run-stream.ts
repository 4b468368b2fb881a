import type { Scenario } from "../../protocol/scenario.ts";
import { estimatePercentile, leastQueries, mostOverLatency } from "../../stats/early-stopping.ts";
import { fewestQueries, isShort } from "./is-short.ts";
import { measurePercentiles } from "./measure-percentiles.ts";
import { runClosedLoop } from "./run-closed-loop.ts";
import type { MeasuredScenario, ScenarioOptions } from "./run-scenario.ts";
import type { SystemUnderTest } from "./system-under-test.ts";
import { warmUp } from "./warm-up.ts";

type Stream = Extract<Scenario, { kind: "singleStream" | "multiStream" }>;

/** Single and multi stream: the next query on completion of the last, of one sample or of several. */
export async function runStream(
  scenario: Stream,
  system: SystemUnderTest,
  options: ScenarioOptions,
): Promise<MeasuredScenario> {
  const { kind, percentile, minDurationMs } = scenario;
  const samplesPerQuery = kind === "multiStream" ? scenario.samplesPerQuery : 1;
  const minQueries = scenario.minQueries ?? fewestQueries(scenario);
  await warmUp(system, samplesPerQuery, options);
  const load = { concurrency: 1, samplesPerQuery, minDurationMs, minQueries, phase: kind };
  const run = await runClosedLoop(system, { ...options, ...load });
  const { latenciesMs, queries, durationMs } = run;
  const samples = queries * samplesPerQuery;
  const estimateMs = estimatePercentile(latenciesMs.toSorted(), percentile);
  return {
    latenciesMs,
    queries,
    samples,
    durationMs,
    short: isShort(scenario, { durationMs, queries, samples }),
    errors: run.errors,
    errorCodes: run.errorCodes,
    latencyMs: run.latencyMs,
    percentiles: measurePercentiles(latenciesMs, [percentile, ...options.percentiles]),
    earlyStopping: {
      percentile,
      queries,
      overLatency: Math.max(0, mostOverLatency(percentile, queries)),
      minQueries: leastQueries(percentile, 1),
      enough: estimateMs !== null,
      // Infinity where so many queries failed.
      estimateMs: Number.isFinite(estimateMs) ? estimateMs : null,
    },
    samplesPerS: run.samplesPerS,
    server: null,
  };
}
