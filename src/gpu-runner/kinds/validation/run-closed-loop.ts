import type { Distribution } from "../../../protocol/wire/distribution.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { summarise } from "../../../stats/distribution/distribution.ts";
import { askSystem, type LoadOptions, type SystemUnderTest, untilDeadline } from "./system-under-test.ts";
import { type LoggedQueries, QueryLog } from "./query-log.ts";

export interface ClosedLoopOptions extends Omit<LoadOptions, "seed"> {
  /** Number of callers; each asks again as soon as it is answered. */
  readonly concurrency: number;
  readonly samplesPerQuery: number;
  readonly minDurationMs: number;
  readonly minQueries: number;
  /** Phase of the progress; `load` where absent. */
  readonly phase?: string;
}

export interface ClosedLoopRun extends LoggedQueries {
  readonly queries: number;
  /** Latency of the answered queries; null without any. */
  readonly latencyMs: Distribution | null;
  /** Answered samples a second. */
  readonly samplesPerS: number;
}

/** Pause of a caller after an error, so that a system that refuses at once is not asked endlessly. */
const PAUSE_AFTER_ERROR_MS = 1;

/**
 * Keeps `concurrency` queries in flight.
 * It ends when duration and queries are both reached, at the deadline, or at a scenario's most queries.
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

/** Rate per second; 0 where no time passed. */
export function perSecond(count: number, durationMs: number): number {
  return durationMs > 0 ? (1e3 * count) / durationMs : 0;
}
