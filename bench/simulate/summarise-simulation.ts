import { nearestRank } from "../../src/stats/distribution/summary.ts";
import { jainIndex } from "./jain-index.ts";
import type { PlatformLoad } from "./platform.ts";
import type { QueueReport } from "./sim-queue.ts";
import type { Tally } from "./tally.ts";

/** Work of one runner while it was measured. */
export interface RunnerWork {
  readonly speed: string;
  readonly rows: number;
  readonly busyMs: number;
}

export interface SimulationResult {
  readonly runners: number;
  readonly seconds: number;
  readonly offeredPerSecond: number;
  /** Answers within their budget, per second. */
  readonly goodputPerSecond: number;
  readonly goodputShare: number;
  /** Number of requests by result. */
  readonly results: Readonly<Record<string, number>>;
  readonly retried: number;
  /** Latencies of answers in budget; null where there is none. */
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly quantiles: readonly number[] } | null;
  /** Share of the time that devices were busy, of all and by speed. */
  readonly utilisation: number;
  readonly utilisationBySpeed: Readonly<Record<string, number>>;
  /**
   * Jain's index of the tenants' shares of their demand, and of the work of runners.
   * The latter is taken within each speed, weighted by that speed's share of all work.
   */
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

/** Quantiles in a plot of latencies. */
const QUANTILES = Array.from({ length: 101 }, (_, percent) => percent / 100);

export function summariseSimulation(simulated: Simulated): SimulationResult {
  const { hosts, durationMs, tally, work, platform, queue } = simulated;
  const seconds = durationMs / 1e3;
  const good = tally.latenciesMs.length;
  const sorted = Float64Array.from(tally.latenciesMs).toSorted();
  const at = (p: number) => nearestRank(sorted, p);
  const asking = tally.tenants.filter(({ offered }) => offered > 0);
  const tenantShares = asking.map(({ offered, inBudget }) => inBudget / offered);
  const busyMs = sumOf(work.map((each) => each.busyMs));
  return {
    runners: hosts,
    seconds,
    offeredPerSecond: tally.offered / seconds,
    goodputPerSecond: good / seconds,
    goodputShare: good / tally.offered,
    results: Object.fromEntries([...tally.results].toSorted(([a], [b]) => a.localeCompare(b))),
    retried: tally.retried,
    latencyMs: good === 0 ? null : { p50: at(0.5), p99: at(0.99), quantiles: QUANTILES.map(at) },
    utilisation: busyMs / (hosts * durationMs),
    utilisationBySpeed: Object.fromEntries(
      [...Map.groupBy(work, ({ speed }) => speed)].map(([speed, alike]) => [
        speed,
        sumOf(alike.map((each) => each.busyMs)) / (alike.length * durationMs),
      ]),
    ),
    fairness: {
      tenants: jainIndex(tenantShares),
      runners: fairnessOfWork(work, busyMs),
    },
    tenantShares,
    platform,
    queue,
  };
}

function fairnessOfWork(work: readonly RunnerWork[], allMs: number): number {
  const speeds = [...Map.groupBy(work, ({ speed }) => speed).values()].map((alike) =>
    alike.map(({ busyMs }) => busyMs),
  );
  return sumOf(speeds.map((alike) => (sumOf(alike) === 0 ? 0 : (sumOf(alike) / allMs) * jainIndex(alike))));
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
