import type { HealthReport, PlacementHealth } from "../../../protocol/fleet/health.ts";
import { isSameConfiguration } from "../../../protocol/fleet/serving.ts";
import type { Distribution } from "../../../protocol/wire/distribution.ts";
import { type Aggregate, aggregateQuantile, mergeAggregates } from "../../../stats/distribution/distribution.ts";
import { binomialCdf } from "../../../stats/distribution/intervals.ts";
import { countAbove } from "../../../stats/distribution/read-sketch.ts";
import { type Expectation, findExpectation } from "./expectation.ts";
import { isThrottled } from "./judge-host.ts";
import {
  ADVICE,
  type Evidence,
  hostSharesOf,
  OF_NO_PLACEMENT,
  toPercent,
  type WatchContext,
  type WatchLevel,
  type WatchRule,
} from "./watch-rule.ts";

/** One probe tells nothing. */
const LEAST_PROBES = 2;
/** How far to look back for them: a slow model is probed seldom. */
const LOOK_BACK_MS = 300_000;

interface RecentProbes {
  readonly serviceMs: Aggregate;
  readonly computeMs: Aggregate | null;
  /** Whether none could have been made since: slow ones use up the time that probes may take, jobs need it for themselves. */
  readonly isLatest: boolean;
}

/** A placement's probes up to a report: its own, and as many reports back as it takes for enough; null where there are not. */
function recentProbes(
  told: PlacementHealth,
  report: HealthReport,
  reports: readonly HealthReport[],
): RecentProbes | null {
  const service: Distribution[] = [];
  const compute: Distribution[] = [];
  let count = 0;
  const fromMs = Date.parse(report.at) - LOOK_BACK_MS;
  const upTo = reports.filter(({ at, startedAt }) => at <= report.at && startedAt === report.startedAt);
  for (const each of upTo.toReversed()) {
    if (count >= LEAST_PROBES || Date.parse(each.at) < fromMs) break;
    const same = each.placements.find((other) => isSame(other, told));
    if (same?.serviceMs == null) continue;
    count += same.serviceMs.count;
    service.push(same.serviceMs);
    if (same.computeMs !== null) compute.push(same.computeMs);
  }
  if (count < LEAST_PROBES) return null;
  const computeMs = compute.length === 0 ? null : mergeAggregates(compute);
  return { serviceMs: mergeAggregates(service), computeMs, isLatest: told.serviceMs !== null || report.jobShare < 0.5 };
}

function isSame(a: PlacementHealth, b: PlacementHealth): boolean {
  return (
    a.modelVersionId === b.modelVersionId &&
    a.variant === b.variant &&
    a.deviceKey === b.deviceKey &&
    a.backend === b.backend &&
    isSameConfiguration(a.configuration, b.configuration)
  );
}

/** A median so many times the expected one is slow; a calibration is held less strictly than a validation. */
const FACTORS = { open: { validated: 1.5, calibrated: 2 }, hold: { validated: 1.3, calibrated: 1.6 } } as const;
/**
 * A probe finds caches, clocks and processes asleep, which those back to back did not: milliseconds on top. Less where
 * other processes are in the way: then the cause is seen.
 */
const WAKING_MS = { open: 5, hold: 4 } as const;
const CROWDED_WAKING_MS = { open: 2, hold: 1.5 } as const;
/** How unlikely so many probes above the 95th percentile must be, if nothing had changed. */
const CHANCE = 0.005;
/** Of all cores, by other processes: from here on they are in the way. */
export const CROWDED_SHARE = { open: 0.35, hold: 0.25 } as const;
/** Of all cores, by the runner itself, while few are left: it is slowed by what it does. */
const OWN_SHARE = 0.5;
const FULL_SHARE = 0.8;
/** Longest that a process which wakes waits for a core by the system's scheduler, about. */
const SCHEDULING_MS = 60;
/** Of a fair share of the cores: with room for a load average that lags by a minute. */
const TURNS = 2;
/** Of the excess, in computing: it is the backend that is slow. */
const BACKEND_SHARE = 0.5;

/** A placement that is slower than it should be. */
interface Slow {
  readonly expectation: Expectation;
  readonly probes: RecentProbes;
  readonly measuredMs: number;
  readonly expectedMs: number;
}

/**
 * Placements whose probes are slower than they were validated, by cause: heat is told by its own rule; other processes
 * that take the cores; the backend, where it alone takes the time; else no cause that is seen. What slows several
 * placements at once is told once, of the one that it slows most.
 */
export const judgeSlowness: WatchRule = (report, context, level) => {
  const found = report.placements.flatMap((told) => {
    const slow = findSlow(told, report, context, level);
    return slow === null ? [] : (explain(slow, report, context, level) ?? []);
  });
  const byKey = Map.groupBy(found, ({ evidence }) => evidence.key);
  return [...byKey.values()].flatMap((same) => same.toSorted((a, b) => b.ratio - a.ratio)[0]?.evidence ?? []);
};

function findSlow(
  told: PlacementHealth,
  report: HealthReport,
  { expectations, reports }: WatchContext,
  level: WatchLevel,
): Slow | null {
  const expectation = findExpectation(expectations, told);
  const probes = recentProbes(told, report, reports);
  if (expectation === null || expectation.service === null || probes === null) return null;
  const { p50Ms, p95Ms, source } = expectation.service;
  const measuredMs = aggregateQuantile(probes.serviceMs, 0.5);
  const isCrowded = hostSharesOf(report).others >= CROWDED_SHARE[level];
  const wakingMs = (isCrowded ? CROWDED_WAKING_MS : WAKING_MS)[level];
  if (measuredMs <= Math.max(FACTORS[level][source] * p50Ms, p50Ms + wakingMs)) return null;
  if (level === "open" && !isUnlikely(probes, p95Ms)) return null;
  return { expectation, probes, measuredMs, expectedMs: p50Ms };
}

/** Whether so many of the probes lie above the 95th percentile as do not by chance. */
function isUnlikely({ serviceMs, isLatest }: RecentProbes, p95Ms: number): boolean {
  const above = countAbove(serviceMs.sketch, p95Ms);
  return isLatest && 1 - binomialCdf(above - 1, serviceMs.count, 0.05) <= CHANCE;
}

function explain(slow: Slow, report: HealthReport, context: WatchContext, level: WatchLevel) {
  const { expectation, probes, measuredMs, expectedMs } = slow;
  if (isThrottled(expectation.deviceKey, report, context, level)) return null;
  const { own, others } = hostSharesOf(report);
  const { loadAverage, logicalCores, busyShare } = report.host;
  // All that wants the cores has its turn before ours: what takes longer is not for want of them.
  const crowdedMs = expectedMs * TURNS * (1 + loadAverage / logicalCores) + SCHEDULING_MS;
  const isShared = measuredMs <= crowdedMs;
  const ratio = measuredMs / expectedMs;
  if (isShared && others >= CROWDED_SHARE[level]) return { ratio, evidence: tellContention(slow, others, level) };
  if (isShared && own >= OWN_SHARE && busyShare >= FULL_SHARE) return null;
  const inBackendMs = probes.computeMs === null ? 0 : aggregateQuantile(probes.computeMs, 0.5) - expectedMs;
  const isBackend = inBackendMs >= BACKEND_SHARE * (measuredMs - expectedMs);
  return { ratio, evidence: isBackend ? tellBackend(slow, others) : tellDrift(slow, others, expectation) };
}

function tellContention(slow: Slow, others: number, level: WatchLevel): Evidence {
  return {
    key: "host-contention",
    kind: "host-contention",
    deviceKey: null,
    ...OF_NO_PLACEMENT,
    measured: others,
    expected: CROWDED_SHARE[level],
    unit: "share of the cores",
    detail: `Other processes take ${toPercent(others)} of the cores. ${tellSlow(slow)}`,
    advice: ADVICE.contention,
  };
}

function tellBackend(slow: Slow, others: number): Evidence {
  const { backend, deviceKey } = slow.expectation;
  return {
    ...tellPlacement(slow, "slow-backend"),
    key: `slow-backend ${deviceKey} ${backend}`,
    detail: `${tellSlow(slow)} The time is spent in ${backend}, with ${toPercent(others)} of the cores taken by others.`,
    advice: ADVICE.slowBackend,
  };
}

function tellDrift(slow: Slow, others: number, { placementId }: Expectation): Evidence {
  return {
    ...tellPlacement(slow, "latency-drift"),
    key: `latency-drift ${placementId}`,
    detail: `${tellSlow(slow)} No cause is seen: others take ${toPercent(others)} of the cores, and no clock has fallen that can be read.`,
    advice: ADVICE.drift,
  };
}

function tellPlacement({ expectation, measuredMs, expectedMs }: Slow, kind: "slow-backend" | "latency-drift") {
  const { deviceKey, placementId, subject } = expectation;
  return { kind, deviceKey, placementId, subject, cause: null, measured: measuredMs, expected: expectedMs, unit: "ms" };
}

function tellSlow({ probes, expectation, measuredMs, expectedMs }: Slow): string {
  const source = expectation.service?.source ?? "expected";
  return `${expectation.subject} takes ${toText(measuredMs)} ms, the median of ${probes.serviceMs.count} probes, where ${toText(expectedMs)} ms were ${source}.`;
}

function toText(value: number): string {
  return String(Number(value.toPrecision(3)));
}
