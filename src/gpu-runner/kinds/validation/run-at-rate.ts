import { LIMITS } from "../../../protocol/wire/limits.ts";
import { leastQueries } from "../../../stats/sequential/early-stopping.ts";
import { drawPoissonArrivals } from "../../../stats/random/draws.ts";
import { type LoadOptions, type SystemUnderTest, untilDeadline } from "./system-under-test.ts";
import { type LoggedQueries, QueryLog } from "./query-log.ts";

/** What a rate has to keep, and for how long. */
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
  /** It went its whole length, with enough queries for so many over latency by early stopping. */
  readonly holds: boolean;
  /** Whether queries were still under way at the deadline. */
  readonly ranOut: boolean;
}

/** A run in which some queries were over goes on until it tells, but for no more than so many times its queries. */
const LONGEST = 3;

/**
 * Sends single samples at the times of a Poisson process, whether or not those before were answered (an open loop),
 * and waits for all answers. Latency counts from the scheduled arrival, so that a slow system cannot make the load
 * lighter. It goes on beyond duration and queries while queries that were over latency want more of them by early
 * stopping. It ends early where too many are over for that, or more are under way than may be: that rate is lost.
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
    // Where fewer queries were asked for than can tell anything, more are not sent.
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

/** A function of one number that is asked for the same one again and again. */
function rememberLast(compute: (value: number) => number): (value: number) => number {
  let last = Number.NaN;
  let found = Number.NaN;
  return (value) => {
    if (value !== last) [last, found] = [value, compute(value)];
    return found;
  };
}
