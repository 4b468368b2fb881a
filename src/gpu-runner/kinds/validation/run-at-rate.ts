import { LIMITS } from "../../../protocol/wire/limits.ts";
import { leastQueries } from "../../../stats/sequential/early-stopping.ts";
import { drawPoissonArrivals } from "../../../stats/random/draws.ts";
import { type LoadOptions, type SystemUnderTest, untilDeadline } from "./system-under-test.ts";
import { type LoggedQueries, QueryLog } from "./query-log.ts";

/** Requirements of a rate, and the length of its run. */
export interface RatePlan {
  readonly ratePerS: number;
  readonly percentile: number;
  readonly boundMs: number;
  readonly minDurationMs: number;
  readonly minQueries: number;
}

export interface RateRun extends LoggedQueries {
  readonly ratePerS: number;
  /** Queries over the bound, those without an answer among them. */
  readonly overLatency: number;
  /** True after a full run with few enough queries over latency by early stopping. */
  readonly holds: boolean;
  /** Whether queries were still under way at the deadline. */
  readonly ranOut: boolean;
}

/** Longest extension of an undecided run with queries over latency, as a multiple of its queries. */
const LONGEST = 3;

/**
 * Sends single samples at the times of a Poisson process, without waiting for earlier answers (an open loop).
 * Latency counts from the scheduled arrival, so that a slow system cannot make the load lighter.
 * The run is extended while queries over latency require more queries by early stopping.
 * It ends early, and the rate is lost, where too many are over for that, or more are under way than allowed.
 * All answers are awaited at the end.
 */
export async function runAtRate(system: SystemUnderTest, plan: RatePlan, options: LoadOptions): Promise<RateRun> {
  const { ratePerS, percentile, boundMs, minDurationMs } = plan;
  const { clock, seed, signal, deadlineMs, onProgress } = options;
  const planned = Math.max(plan.minQueries, Math.ceil((ratePerS * minDurationMs) / 1e3));
  const least = leastQueries(percentile, 0);
  const most = Math.min(LIMITS.scenarioQueries, LONGEST * Math.max(planned, least));
  const startMs = clock.now();
  const log = new QueryLog(startMs);
  const pending = new Set<Promise<unknown>>();
  let over = 0;
  let lastArrivalMs = 0;
  let isLost = false;
  const ask = async (dueMs: number) => {
    const outcome = await log.follow(dueMs, clock, () => system.query(1));
    if (outcome === "failed" || clock.now() - dueMs > boundMs) over++;
  };
  const needFor = rememberLast((overLatency: number) => leastQueries(percentile, overLatency));
  for (const arrivalMs of drawPoissonArrivals(ratePerS, seed)) {
    const need = needFor(over + log.countOverdue(clock.now(), boundMs));
    isLost = need > most || log.outstanding >= LIMITS.outstandingQueries;
    // Where fewer queries were requested than a decision needs, no more are sent.
    const wanted = planned < least ? plan.minQueries : Math.max(plan.minQueries, need);
    const isDone = lastArrivalMs >= minDurationMs && log.count >= wanted;
    if (isLost || isDone || log.count >= most) break;
    const dueMs = startMs + arrivalMs;
    await clock.waitUntil(Math.min(dueMs, deadlineMs), signal);
    if (signal.aborted || dueMs >= deadlineMs) break;
    lastArrivalMs = arrivalMs;
    const asked: Promise<void> = ask(dueMs).finally(() => pending.delete(asked));
    pending.add(asked);
    const total = Math.max(planned, wanted, log.count);
    onProgress({ phase: `server at ${ratePerS.toPrecision(3)}/s`, done: log.count, total });
  }
  await untilDeadline(Promise.all(pending), options);
  const ranOut = log.outstanding > 0;
  const logged = log.close(clock.now());
  const overLatency = logged.latenciesMs.filter((latencyMs) => latencyMs > boundMs).length;
  const isLong = lastArrivalMs >= minDurationMs && logged.latenciesMs.length >= plan.minQueries;
  const isEnough = logged.latenciesMs.length >= leastQueries(percentile, overLatency);
  return { ...logged, ratePerS, overLatency, holds: !isLost && isLong && isEnough, ranOut };
}

/** Caches the last result of a function of one number. */
function rememberLast(compute: (value: number) => number): (value: number) => number {
  let last = Number.NaN;
  let found = Number.NaN;
  return (value) => {
    if (value !== last) [last, found] = [value, compute(value)];
    return found;
  };
}
