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

/** The search is over where rates that hold and fail are so close. */
const RELATIVE_WIDTH = 0.05;
/** The first rate is this share of what the system does one by one: batches may do more, jitter less. */
const START_SHARE = 0.5;
/** The lowest rate that is tried, as a share of the first: there hardly a query waits for another. */
const LEAST_SHARE = 1 / 16;
/** Of the time that is left, a run of the search takes this share at most, unless it was asked to be longer. */
const RUN_SHARE = 1 / 20;
/** Where not even the warm-up was answered. */
const START_WITHOUT_ANSWER_PER_S = 10;

/** A rate that was tried, and whether as a repetition. */
interface TriedRate {
  readonly run: RateRun;
  readonly confirms: boolean;
}

/** Server: Poisson arrivals at the rate that is given, or at the highest that keeps the bound, which is searched. */
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
    // Other arrivals each time, or a repetition would repeat its luck.
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
 * An overload by the width of the search puts the first query over the bound when 1/width bounds are over: a run that
 * is shorter would not see it.
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
    // What is still under way would be in the way of the next run.
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
 * The runs that a result tells of: the last at the highest rate that all held, without the one that it was found by
 * where others confirmed it, since that one was chosen for its luck. Where no rate holds, the run at the lowest.
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
