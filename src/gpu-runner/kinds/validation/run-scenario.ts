import type { LoadPath, Scenario, ScenarioResult } from "../../../protocol/models/scenario.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { summarise } from "../../../stats/distribution/distribution.ts";
import { estimatePercentile, leastQueries, mostOverLatency } from "../../../stats/sequential/early-stopping.ts";
import { measurePercentiles, QueryLog } from "./query-log.ts";
import { perSecond, runClosedLoop } from "./run-closed-loop.ts";
import { fewestQueries, isShort } from "./run-length.ts";
import { runServer } from "./run-server.ts";
import { askSystem, type LoadOptions, type SystemUnderTest, untilDeadline, warmUp } from "./system-under-test.ts";

type Stream = Extract<Scenario, { kind: "singleStream" | "multiStream" }>;

/** Single and multi stream: the next query of one or several samples follows on completion of the last. */
async function runStream(
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
      // Infinity where too many queries failed.
      estimateMs: Number.isFinite(estimateMs) ? estimateMs : null,
    },
    samplesPerS: run.samplesPerS,
    server: null,
  };
}

export interface ScenarioOptions extends LoadOptions {
  /** Extra percentiles beside p50, p90, p95, p99, p99.9 and the scenario's own. */
  readonly percentiles: readonly number[];
}

/** Result of a scenario with its latencies. */
export interface ScenarioRun {
  readonly result: ScenarioResult;
  /** Latencies in milliseconds from the scheduled arrival, in that order; Infinity for an error. */
  readonly latenciesMs: Float64Array;
}

/** Measurement by a scenario's driver. */
export type MeasuredScenario = Omit<ScenarioResult, "scenario" | "path"> & Pick<ScenarioRun, "latenciesMs">;

/**
 * Runs one scenario on a system: a warm-up that is not counted, then the load, to its end or the deadline.
 * A query without an answer is an error and counts as over latency. Throws the signal's reason when aborted.
 */
export async function runScenario(
  scenario: Scenario,
  path: LoadPath,
  system: SystemUnderTest,
  options: ScenarioOptions,
): Promise<ScenarioRun> {
  const { latenciesMs, ...measured } = await drive(scenario, system, options);
  return { result: { scenario, path, ...measured }, latenciesMs };
}

function drive(scenario: Scenario, system: SystemUnderTest, options: ScenarioOptions): Promise<MeasuredScenario> {
  switch (scenario.kind) {
    case "singleStream":
    case "multiStream":
      return runStream(scenario, system, options);
    case "server":
      return runServer(scenario, system, options);
    case "offline":
      return runOffline(scenario, system, options);
  }
}

/** Offline: one query of all samples, in parts as large as the system accepts. */
async function runOffline(
  scenario: Extract<Scenario, { kind: "offline" }>,
  system: SystemUnderTest,
  options: ScenarioOptions,
): Promise<MeasuredScenario> {
  const { clock, onProgress } = options;
  const partMs = await warmUp(system, system.maxSamples, options);
  const samples = scenario.samples ?? expectSamples(scenario.minDurationMs, partMs, system.maxSamples);
  const startMs = clock.now();
  const log = new QueryLog(startMs);
  let asked = 0;
  const counted: SystemUnderTest = {
    maxSamples: system.maxSamples,
    query: (part) => {
      onProgress({ phase: "offline", done: asked, total: samples });
      asked += part;
      return system.query(part);
    },
  };
  await untilDeadline(
    log.follow(startMs, clock, () => askSystem(counted, samples)),
    options,
  );
  const { latenciesMs, durationMs, errors, errorCodes } = log.close(clock.now());
  return {
    latenciesMs,
    queries: 1,
    samples,
    durationMs,
    short: isShort(scenario, { durationMs, queries: 1, samples }),
    errors,
    errorCodes,
    latencyMs: errors > 0 ? null : summarise(latenciesMs),
    percentiles: [],
    earlyStopping: null,
    samplesPerS: errors > 0 ? 0 : perSecond(samples, durationMs),
    server: null,
  };
}

/** Expected samples within a duration at the warm-up's speed; overlapping parts may finish sooner. */
function expectSamples(durationMs: number, partMs: number | null, partSamples: number): number {
  const parts = partMs === null || partMs === 0 ? 1 : Math.ceil(durationMs / partMs);
  return Math.min(LIMITS.scenarioQueries, parts * partSamples);
}
