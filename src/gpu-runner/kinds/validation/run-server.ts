import type { RateTrial, Scenario } from "../../../protocol/models/scenario.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { summarise } from "../../../stats/distribution/distribution.ts";
import { leastQueries } from "../../../stats/sequential/early-stopping.ts";
import { nearestRank } from "../../../stats/distribution/summary.ts";
import { paretoFront } from "../../../stats/compare/trade-offs.ts";
import { fewestQueries, isShort } from "./run-length.ts";
import { measurePercentiles } from "./query-log.ts";
import { type RateRun, runAtRate } from "./run-at-rate.ts";
import { perSecond } from "./run-closed-loop.ts";
import type { MeasuredScenario, ScenarioOptions } from "./run-scenario.ts";
import { searchRate } from "./search-rate.ts";
import { type SystemUnderTest, warmUp } from "./system-under-test.ts";

type Server = Extract<Scenario, { kind: "server" }>;

/** Relative distance of holding and failing rates at which the search ends. */
const RELATIVE_WIDTH = 0.05;
/** The first rate as a share of the one-by-one speed: batches may raise capacity, jitter lower it. */
const START_SHARE = 0.5;
/** The lowest rate as a share of the first: there hardly a query waits for another. */
const LEAST_SHARE = 1 / 16;
/** Largest share of the remaining time for a run of the search, unless a longer run was requested. */
const RUN_SHARE = 1 / 20;
/** First rate where not even the warm-up was answered. */
const START_WITHOUT_ANSWER_PER_S = 10;

/** Run at a rate, and whether it was a repetition. */
interface TriedRate {
  readonly run: RateRun;
  readonly confirms: boolean;
}

/** Server: Poisson arrivals at the given rate, or at the highest that keeps the bound, found by search. */
export async function runServer(
  scenario: Server,
  system: SystemUnderTest,
  options: ScenarioOptions,
): Promise<MeasuredScenario> {
  const serviceMs = await warmUp(system, 1, options);
  const { percentile, boundMs } = scenario;
  const minQueries = scenario.minQueries ?? fewestQueries(scenario);
  const length = { minQueries, minDurationMs: chooseDurationMs(scenario, options) };
  const tried: TriedRate[] = [];
  const tryRate = async (ratePerS: number, confirms: boolean): Promise<RateRun> => {
    const plan = { ratePerS, percentile, boundMs, ...length };
    // Arrivals differ each time, since a repetition must not repeat its luck.
    const seed = (options.seed + tried.length) % 2 ** 32;
    const run = await runAtRate(system, plan, { ...options, seed });
    tried.push({ run, confirms });
    return run;
  };
  let highestRatePerS: number | null;
  if (scenario.ratePerS === undefined) {
    const first = serviceMs === null || serviceMs === 0 ? START_WITHOUT_ANSWER_PER_S : (1e3 * START_SHARE) / serviceMs;
    highestRatePerS = await searchHighest({ ...scenario, ...length }, first, tryRate, options);
  } else {
    const { holds } = await tryRate(scenario.ratePerS, false);
    highestRatePerS = holds ? scenario.ratePerS : null;
  }
  return describeServer(scenario, tried, highestRatePerS, options.percentiles);
}

/**
 * Duration of a run.
 * An overload by the search's width puts the first query over the bound only after 1/width bounds; a shorter run would
 * miss it.
 */
function chooseDurationMs(
  { ratePerS, boundMs, minDurationMs }: Server,
  { clock, deadlineMs }: ScenarioOptions,
): number {
  if (ratePerS !== undefined) return minDurationMs;
  return Math.max(minDurationMs, Math.min(boundMs / RELATIVE_WIDTH, RUN_SHARE * (deadlineMs - clock.now())));
}

async function searchHighest(
  { confirmations, minDurationMs, minQueries }: Server & { minQueries: number },
  firstRatePerS: number,
  tryRate: (ratePerS: number, confirms: boolean) => Promise<RateRun>,
  { clock, deadlineMs }: ScenarioOptions,
): Promise<number | null> {
  const mostRatePerS = (1e3 * LIMITS.scenarioQueries) / minDurationMs;
  const startRatePerS = Math.min(firstRatePerS, mostRatePerS);
  const steps = searchRate({
    startRatePerS,
    leastRatePerS: startRatePerS * LEAST_SHARE,
    mostRatePerS,
    relativeWidth: RELATIVE_WIDTH,
    confirmations,
    maxTrials: LIMITS.rateTrials,
    expectMs: (ratePerS) => Math.max(minDurationMs, (1e3 * minQueries) / ratePerS),
  });
  let step = steps.next();
  while (step.done !== true) {
    const { holds, ranOut } = await tryRate(step.value.ratePerS, step.value.confirms);
    // Queries still under way would disturb the next run.
    const leftMs = ranOut ? 0 : Math.max(0, deadlineMs - clock.now());
    step = steps.next({ holds, leftMs });
  }
  return step.value.highestRatePerS;
}

function describeServer(
  scenario: Server,
  tried: readonly TriedRate[],
  highestRatePerS: number | null,
  percentiles: readonly number[],
): MeasuredScenario {
  const { percentile, boundMs } = scenario;
  const runs = chooseRuns(tried, highestRatePerS);
  const { latenciesMs, errors, errorCodes, overLatency, durationMs } = poolRuns(runs);
  const queries = latenciesMs.length;
  const answeredMs = latenciesMs.filter(Number.isFinite);
  const minQueries = leastQueries(percentile, overLatency);
  const curve = tried.map(({ run, confirms }) => describeTrial(run, percentile, confirms));
  const points = curve.flatMap(({ ratePerS, percentileMs }) =>
    percentileMs === null ? [] : { ratePerS, percentileMs },
  );
  const front = paretoFront(points, ["higher", "lower"], (point) => [point.ratePerS, point.percentileMs]);
  const shortestMs = Math.min(...runs.map((run) => run.durationMs));
  return {
    latenciesMs,
    queries,
    samples: queries,
    durationMs,
    short: isShort(scenario, { durationMs: shortestMs, queries, samples: queries }),
    errors,
    errorCodes,
    latencyMs: answeredMs.length === 0 ? null : summarise(answeredMs),
    percentiles: measurePercentiles(latenciesMs, [percentile, ...percentiles]),
    earlyStopping: { percentile, queries, overLatency, minQueries, enough: queries >= minQueries, estimateMs: null },
    samplesPerS: perSecond(answeredMs.length, durationMs),
    server: {
      highestRatePerS,
      boundMs,
      searched: scenario.ratePerS === undefined,
      curve,
      front: front.toSorted((a, b) => a.ratePerS - b.ratePerS),
    },
  };
}

/**
 * Runs of the result at the highest rate that held. Where others confirmed it, the run that found the rate is left out,
 * since luck selected it. Where no rate holds, the run at the lowest.
 */
function chooseRuns(tried: readonly TriedRate[], highestRatePerS: number | null): RateRun[] {
  const at = tried.filter(({ run }) => run.ratePerS === highestRatePerS && run.holds);
  const confirming = at.filter(({ confirms }) => confirms);
  if (at.length > 0) return (confirming.length > 0 ? confirming : at).map(({ run }) => run);
  const lowest = tried.reduce((least, other) => (other.run.ratePerS < least.run.ratePerS ? other : least));
  return [lowest.run];
}

function poolRuns(runs: readonly RateRun[]) {
  const errorCodes: Record<string, number> = {};
  for (const run of runs) {
    for (const [code, count] of Object.entries(run.errorCodes)) errorCodes[code] = (errorCodes[code] ?? 0) + count;
  }
  const sumOf = (pick: (run: RateRun) => number) => runs.reduce((sum, run) => sum + pick(run), 0);
  return {
    latenciesMs: Float64Array.from(runs.flatMap((run) => [...run.latenciesMs])),
    errorCodes,
    errors: sumOf((run) => run.errors),
    overLatency: sumOf((run) => run.overLatency),
    durationMs: sumOf((run) => run.durationMs),
  };
}

function describeTrial(run: RateRun, percentile: number, confirms: boolean): RateTrial {
  const { ratePerS, latenciesMs, errors, durationMs, overLatency, holds } = run;
  const sorted = latenciesMs.toSorted();
  const pick = (p: number) => {
    const ms = nearestRank(sorted, p);
    return Number.isFinite(ms) ? ms : null;
  };
  return {
    ratePerS,
    completedPerS: perSecond(latenciesMs.length - errors, durationMs),
    queries: latenciesMs.length,
    errors,
    overLatency,
    p50Ms: pick(0.5),
    percentileMs: pick(percentile),
    holds,
    confirms,
  };
}
