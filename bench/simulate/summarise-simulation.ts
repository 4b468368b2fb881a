import { nearestRank } from "../../src/stats/nearest-rank.ts";
import { jainIndex } from "./jain-index.ts";
import type { PlatformLoad } from "./platform.ts";
import type { QueueReport } from "./sim-queue.ts";
import type { Tally } from "./tally.ts";

/** What one runner did while it was measured. */
export interface RunnerWork {
  readonly speed: string;
  readonly rows: number;
  readonly busyMs: number;
}

export interface SimulationResult {
  readonly runners: number;
  readonly seconds: number;
  readonly offeredPerSecond: number;
  /** Answers within their budget. */
  readonly goodputPerSecond: number;
  readonly goodputShare: number;
  /** Requests by how they ended. */
  readonly results: Readonly<Record<string, number>>;
  readonly retried: number;
  /** Of answers in budget; null where there is none. */
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly quantiles: readonly number[] } | null;
  /** Share of the time that devices were at work. */
  readonly utilisation: number;
  /** Of the share that each tenant got of what it asked for, and of the work of runners of one speed, the least fair. */
  readonly fairness: { readonly tenants: number; readonly runners: number };
  readonly tenantShares: readonly number[];
  readonly platform: PlatformLoad;
  readonly queue: QueueReport;
}

interface Simulated {
  readonly hosts: number;
  readonly durationMs: number;
  readonly tally: Tally;
  readonly work: readonly RunnerWork[];
  readonly platform: PlatformLoad;
  readonly queue: QueueReport;
}

/** Quantiles that a plot of latencies is drawn by. */
const QUANTILES = Array.from({ length: 101 }, (_, percent) => percent / 100);

export function summariseSimulation(simulated: Simulated): SimulationResult {
  const { hosts, durationMs, tally, work, platform, queue } = simulated;
  const seconds = durationMs / 1e3;
  const good = tally.latenciesMs.length;
  const sorted = Float64Array.from(tally.latenciesMs).toSorted();
  const at = (p: number) => nearestRank(sorted, p);
  const asking = tally.tenants.filter(({ offered }) => offered > 0);
  const tenantShares = asking.map(({ offered, inBudget }) => inBudget / offered);
  const worked = Map.groupBy(work, ({ speed }) => speed).values();
  // Runners of a speed that got nothing at all are treated alike.
  const fairs = [...worked].map((alike) => jainIndex(alike.map(({ busyMs }) => busyMs))).filter((fair) => fair > 0);
  return {
    runners: hosts,
    seconds,
    offeredPerSecond: tally.offered / seconds,
    goodputPerSecond: good / seconds,
    goodputShare: good / tally.offered,
    results: Object.fromEntries([...tally.results].toSorted(([a], [b]) => a.localeCompare(b))),
    retried: tally.retried,
    latencyMs: good === 0 ? null : { p50: at(0.5), p99: at(0.99), quantiles: QUANTILES.map(at) },
    utilisation: work.reduce((sum, { busyMs }) => sum + busyMs, 0) / (hosts * durationMs),
    fairness: {
      tenants: jainIndex(tenantShares),
      runners: Math.min(...fairs),
    },
    tenantShares,
    platform,
    queue,
  };
}
