import type { LoadPath, Scenario, ScenarioResult } from "../../protocol/scenario.ts";
import type { LoadOptions } from "./load-options.ts";
import { runOffline } from "./run-offline.ts";
import { runServer } from "./run-server.ts";
import { runStream } from "./run-stream.ts";
import type { SystemUnderTest } from "./system-under-test.ts";

export interface ScenarioOptions extends LoadOptions {
  /** Percentiles that are wanted beside p50, p90, p95, p99, p99.9 and the scenario's own. */
  readonly percentiles: readonly number[];
}

/** A scenario's result, and the latencies that it tells of. */
export interface ScenarioRun {
  readonly result: ScenarioResult;
  /** In milliseconds from the scheduled arrival, in the order of arrival; Infinity where there was an error. */
  readonly latenciesMs: Float64Array;
}

/** What the driver of a scenario found. */
export type MeasuredScenario = Omit<ScenarioResult, "scenario" | "path"> & Pick<ScenarioRun, "latenciesMs">;

/**
 * Puts a system under one scenario: first a warm-up that is not counted, then the load, to its end or the deadline.
 * A query without an answer is an error and counts as over latency. Throws the signal's reason where it is aborted.
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
