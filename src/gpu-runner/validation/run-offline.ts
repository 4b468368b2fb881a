import type { Scenario } from "../../protocol/scenario.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { summarise } from "../../stats/distribution.ts";
import { askSystem } from "./ask-system.ts";
import { isShort } from "./is-short.ts";
import { QueryLog } from "./query-log.ts";
import { perSecond } from "./run-closed-loop.ts";
import type { MeasuredScenario, ScenarioOptions } from "./run-scenario.ts";
import type { SystemUnderTest } from "./system-under-test.ts";
import { untilDeadline } from "./until-deadline.ts";
import { warmUp } from "./warm-up.ts";

/** Offline: one query of all samples, in parts as large as the system takes them. */
export async function runOffline(
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

/** As many as take so long, where parts take as long as in the warm-up: they overlap later, so it may be over sooner. */
function expectSamples(durationMs: number, partMs: number | null, partSamples: number): number {
  const parts = partMs === null || partMs === 0 ? 1 : Math.ceil(durationMs / partMs);
  return Math.min(LIMITS.scenarioQueries, parts * partSamples);
}
