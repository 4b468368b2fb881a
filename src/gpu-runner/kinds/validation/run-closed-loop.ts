import type { Distribution } from "../../../protocol/wire/distribution.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { summarise } from "../../../stats/distribution/distribution.ts";
import { askSystem, type LoadOptions, type SystemUnderTest, untilDeadline } from "./system-under-test.ts";
import { type LoggedQueries, QueryLog } from "./query-log.ts";

export interface ClosedLoopOptions extends Omit<LoadOptions, "seed"> {
  /** Callers, each of whom asks again as soon as it is answered. */
  readonly concurrency: number;
  readonly samplesPerQuery: number;
  readonly minDurationMs: number;
  readonly minQueries: number;
  /** Of the progress; absent: `load`. */
  readonly phase?: string;
}

export interface ClosedLoopRun extends LoggedQueries {
  readonly queries: number;
  /** Of the queries that were answered; null where none was. */
  readonly latencyMs: Distribution | null;
  /** Samples that were answered, a second. */
  readonly samplesPerS: number;
}

/** A caller that was refused waits so long: a system that refuses at once must not be asked without end. */
const PAUSE_AFTER_ERROR_MS = 1;

/**
 * Keeps so many queries in flight until duration and queries are both reached, the deadline comes, or there were as
 * many queries as a scenario may have.
 */
export async function runClosedLoop(system: SystemUnderTest, options: ClosedLoopOptions): Promise<ClosedLoopRun> {
  const { clock, signal, deadlineMs, minDurationMs, minQueries, samplesPerQuery, onProgress } = options;
  const { phase = "load" } = options;
  const startMs = clock.now();
  const log = new QueryLog(startMs);
  const goesOn = () => {
    const nowMs = clock.now();
    if (signal.aborted || nowMs >= deadlineMs || log.count >= LIMITS.scenarioQueries) return false;
    return nowMs - startMs < minDurationMs || log.count < minQueries;
  };
  const call = async () => {
    while (goesOn()) {
      onProgress({ phase, done: log.count, total: Math.max(minQueries, log.count) });
      const outcome = await log.follow(clock.now(), clock, () => askSystem(system, samplesPerQuery));
      if (outcome === "failed") await clock.waitUntil(clock.now() + PAUSE_AFTER_ERROR_MS, signal);
    }
  };
  await untilDeadline(Promise.all(Array.from({ length: options.concurrency }, call)), options);
  const logged = log.close(clock.now());
  const answeredMs = logged.latenciesMs.filter(Number.isFinite);
  return {
    ...logged,
    queries: logged.latenciesMs.length,
    latencyMs: answeredMs.length === 0 ? null : summarise(answeredMs),
    samplesPerS: perSecond(answeredMs.length * samplesPerQuery, logged.durationMs),
  };
}

/** 0 where no time passed. */
export function perSecond(count: number, durationMs: number): number {
  return durationMs > 0 ? (1e3 * count) / durationMs : 0;
}
