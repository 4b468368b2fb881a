import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { LoadPath, Scenario } from "../../../protocol/models/scenario.ts";
import type { ValidationSpec } from "../../../protocol/jobs/validation.ts";
import type { WorkloadContext } from "../kind.ts";
import { DEFAULT_PERCENTILE } from "./gather-evidence.ts";
import { openLoadClock } from "./open-load-clock.ts";
import { runScenario, type ScenarioRun } from "./run-scenario.ts";
import { isSearch, shareTime } from "./run-length.ts";
import type { SystemUnderTest } from "./system-under-test.ts";

/** Prepares a system for a scenario on a path. */
export type SystemFor = (scenario: Scenario, path: LoadPath) => Promise<SystemUnderTest>;

type Asked = Pick<ValidationSpec, "scenarios" | "paths" | "requirements" | "seed" | "timeoutMs">;

/**
 * Runs every scenario on every path, one after the other, by `endMs` of the monotonic clock.
 * Throws `backend-failed` where one lacks its full length by then: half of a scenario is no result.
 */
export async function runScenarios(
  { scenarios, paths, requirements, seed, timeoutMs }: Asked,
  systemFor: SystemFor,
  endMs: number,
  { signal, onProgress }: Pick<WorkloadContext, "signal" | "onProgress">,
): Promise<ScenarioRun[]> {
  const steps = paths.flatMap((path) => scenarios.map((scenario) => ({ scenario, path })));
  const latencies = requirements.filter(({ metric }) => metric === "latencyMs");
  const percentiles = latencies.map(({ percentile = DEFAULT_PERCENTILE }) => percentile);
  const clock = await openLoadClock();
  try {
    const runs: ScenarioRun[] = [];
    for (const [index, { scenario, path }] of steps.entries()) {
      const { kind } = scenario;
      const left = steps.slice(index).map((step) => step.scenario);
      const deadlineMs = shareTime(left, clock.now(), endMs);
      const run = await runScenario(scenario, path, await systemFor(scenario, path), {
        clock,
        seed,
        signal,
        deadlineMs,
        percentiles,
        onProgress: (progress) => {
          const { phase } = progress;
          onProgress({ ...progress, phase: `${path} ${phase.startsWith(kind) ? phase : `${kind}, ${phase}`}` });
        },
      });
      if (clock.now() >= deadlineMs && !isSearch(scenario)) {
        const detail = `${kind} on the path ${path} was not over when its part of the ${timeoutMs} ms was.`;
        throw new ProblemError("backend-failed", detail);
      }
      runs.push(run);
    }
    return runs;
  } finally {
    await clock.close();
  }
}
