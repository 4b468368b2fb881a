import { setTimeout as delay } from "node:timers/promises";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { type Growth, judgeGrowth, SETTLING_SHARE, type TimedValue } from "./judge-growth.ts";
import { type JobCounts, keepJobs } from "./keep-jobs.ts";
import { type LoadRecord, percentile } from "./load-record.ts";
import { type Aimed, measureCapacity, putLoad } from "./put-load.ts";
import { type ProcessSample, type Role, sampleLiveBytes } from "./sample-processes.ts";
import { placeNetwork } from "./served-network.ts";
import type { SoakOptions } from "./soak-arguments.ts";
import type { Service } from "./start-service.ts";
import { type TimedSample, watchProcesses } from "./watch-processes.ts";

const BUDGET_MS = 500;
const CAPACITY_SECONDS = 20;
const IDLE_MS = 20_000;
const RECOVERY_SECONDS = 30;
/** The service has recovered after this many seconds in a row with this share of answers. */
const CALM_SECONDS = 3;
const CALM_SHARE = 0.99;
const WINDOW_SECONDS = 10;
const MIB = 2 ** 20;
/** Just before the trends begin, into which a forced collection must not fall. */
const LIVE_FROM_SHARE = 0.9 * SETTLING_SHARE;
/** Before the end of the load: too late to move a trend. */
const LIVE_BEFORE_END_MS = 5_000;

/** Figures of one phase of load. */
interface LoadFigures {
  readonly ratePerSecond: number;
  readonly seconds: number;
  readonly counts: Record<string, number>;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  readonly refusedP50Ms: number | null;
  readonly refusedP99Ms: number | null;
  /** Delay of the generator behind its own schedule. */
  readonly lagP99Ms: number | null;
}

export interface SoakFigures {
  readonly budgetMs: number;
  readonly capacityPerSecond: number;
  readonly jobs: JobCounts;
  readonly soak: LoadFigures;
  readonly growth: readonly Growth[];
  /**
   * Of each Node process, in use under load after a collection of all garbage: as the trends begin, and as the soak ends;
   * null where it did not answer.
   */
  readonly live: readonly {
    readonly role: Role;
    readonly firstBytes: number | null;
    readonly lastBytes: number | null;
  }[];
  /** Bytes of GPU buffers in use when nothing runs any more; null where the runner did not report them. */
  readonly idleGpuBytes: number | null;
  readonly overload: LoadFigures;
  /** Seconds from the end of the overload until all is answered again; null: not within half a minute. */
  readonly recoveredS: number | null;
}

/** The figures, and their data for plots. */
export interface Soaked {
  readonly figures: SoakFigures;
  readonly samples: readonly TimedSample[];
  readonly soak: LoadRecord;
  readonly overload: LoadRecord;
  readonly recovery: LoadRecord;
}

/** Capacity, soak, rest, overload, recovery: one after the other on a running service. */
export async function soakService(
  service: Service,
  options: SoakOptions,
  say: (text: string) => void,
): Promise<Soaked> {
  const { client } = service;
  say("placing the network");
  await placeNetwork(client);
  const { secret: key } = await client.call(endpoints.createKey, {
    body: { name: "soak", scopes: ["infer"], requestsPerSecond: 100_000 },
  });
  const aimed: Aimed = { url: service.url, key };
  const working = new AbortController();
  const jobs = keepJobs(client, working.signal);
  say("measuring the capacity, with jobs running");
  const capacity = await measureCapacity(aimed, CAPACITY_SECONDS);
  const rate = options.load * capacity;
  say(`capacity ${capacity.toFixed(0)}/s: ${options.minutes} minutes at ${rate.toFixed(0)}/s`);
  const watching = new AbortController();
  const watched = watchProcesses(service.pid, watching.signal);
  const soakMs = options.minutes * 60_000;
  const settling = delay(LIVE_FROM_SHARE * soakMs).then(() => sampleLiveBytes(service.pid));
  const ending = delay(soakMs - LIVE_BEFORE_END_MS).then(() => sampleLiveBytes(service.pid));
  const soak = await putLoad(aimed, {
    ratePerSecond: rate,
    seconds: options.minutes * 60,
    budgetMs: BUDGET_MS,
    seed: 1,
  });
  watching.abort();
  working.abort();
  const samples = await watched;
  const jobCounts = await jobs;
  const [first, last] = await Promise.all([settling, ending]);
  say("resting");
  await delay(IDLE_MS);
  const idleGpuBytes = await readLiveGpuBytes(service);
  const overRate = options.factor * capacity;
  say(`${options.overloadSeconds} s at ${overRate.toFixed(0)}/s`);
  const over = { ratePerSecond: overRate, seconds: options.overloadSeconds, budgetMs: BUDGET_MS, seed: 2 };
  const overload = await putLoad(aimed, over);
  say("what comes back");
  const back = { ratePerSecond: rate, seconds: RECOVERY_SECONDS, budgetMs: BUDGET_MS, seed: 3 };
  const recovery = await putLoad(aimed, back);
  const figures: SoakFigures = {
    budgetMs: BUDGET_MS,
    capacityPerSecond: capacity,
    jobs: jobCounts,
    soak: describeLoad(soak, rate, options.minutes * 60),
    growth: describeGrowth(samples, soak),
    live: [...last].map(([role, lastBytes]) => ({ role, firstBytes: first.get(role) ?? null, lastBytes })),
    idleGpuBytes,
    overload: describeLoad(overload, overRate, options.overloadSeconds),
    recoveredS: findRecovery(recovery),
  };
  return { figures, samples, soak, overload, recovery };
}

async function readLiveGpuBytes({ client, runnerId }: Service): Promise<number | null> {
  const { pools } = await client.call(endpoints.getRunnerMemory, { params: { id: runnerId } });
  const counters = pools.map((pool) => pool.counters);
  return counters.some((each) => each === null) ? null : counters.reduce((sum, each) => sum + each!.liveBytes, 0);
}

function describeLoad(record: LoadRecord, ratePerSecond: number, seconds: number): LoadFigures {
  return {
    ratePerSecond,
    seconds,
    counts: record.counts(),
    p50Ms: record.percentileMs(0.5),
    p99Ms: record.percentileMs(0.99),
    refusedP50Ms: percentile(record.refusedMs, 0.5),
    refusedP99Ms: percentile(record.refusedMs, 0.99),
    lagP99Ms: percentile(record.lagsMs, 0.99),
  };
}

function describeGrowth(samples: readonly TimedSample[], soak: LoadRecord): Growth[] {
  const roles = [...new Set(samples.flatMap((sample) => [...sample.roles.keys()]))];
  const over = (role: Role, of: (sample: ProcessSample) => number): TimedValue[] =>
    samples.flatMap(({ atS, roles: each }) => {
      const sample = each.get(role);
      return sample === undefined ? [] : [[atS, of(sample)] as const];
    });
  const p99 = soak.windows(WINDOW_SECONDS).flatMap(({ atS, p99Ms }) => (p99Ms === null ? [] : [[atS, p99Ms] as const]));
  return [
    ...roles.map((role) =>
      judgeGrowth(
        `${role}, memory`,
        "MiB",
        over(role, ({ residentBytes }) => residentBytes / MIB),
      ),
    ),
    ...roles.map((role) =>
      judgeGrowth(
        `${role}, descriptors`,
        "",
        over(role, ({ descriptors }) => descriptors),
      ),
    ),
    judgeGrowth("p99 of 10 s", "ms", p99),
  ];
}

/** The first of several seconds in a row with nearly all requests answered. */
function findRecovery(recovery: LoadRecord): number | null {
  const seconds = recovery.windows(1);
  const isCalm = ({ answered, sent }: { answered: number; sent: number }) => answered >= CALM_SHARE * sent;
  const first = seconds.findIndex((_, index) => {
    const next = seconds.slice(index, index + CALM_SECONDS);
    return next.length === CALM_SECONDS && next.every(isCalm);
  });
  return first === -1 ? null : first;
}
