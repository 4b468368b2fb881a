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

/** Fewest probes for a judgement. */
const LEAST_PROBES = 2;
/** Period in which probes are collected: a slow model is probed rarely. */
const LOOK_BACK_MS = 300_000;

interface RecentProbes {
  readonly serviceMs: Aggregate;
  /** Times in the backend, yet to be merged: most placements are not slow. */
  readonly compute: readonly Distribution[];
  /** Whether no newer probe was possible: slow ones use up the probe budget, and jobs need the device. */
  readonly isLatest: boolean;
}

/** A placement's probes up to a report, from as many earlier reports as needed; null where there are too few. */
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
  return { serviceMs: mergeAggregates(service), compute, isLatest: told.serviceMs !== null || report.jobShare < 0.5 };
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

/**
 * Ratio to the expected median above which a median is slow; a calibration is judged less strictly than a validation.
 */
const FACTORS = { open: { validated: 1.5, calibrated: 2 }, hold: { validated: 1.3, calibrated: 1.6 } } as const;
/**
 * Milliseconds allowed for idle caches, clocks and processes, which back-to-back measurements do not meet. Less on a
 * crowded host, where the cause is visible.
 */
const WAKING_MS = { open: 5, hold: 4 } as const;
const CROWDED_WAKING_MS = { open: 2, hold: 1.5 } as const;
/** Largest probability that so many probes exceed the 95th percentile by chance. */
const CHANCE = 0.005;
/** Share of all cores from which other processes count as contention. */
export const CROWDED_SHARE = { open: 0.35, hold: 0.25 } as const;
/**
 * The runner's own share of all cores, and the host's busy share, from which the runner's own work explains slowness.
 */
const OWN_SHARE = 0.5;
const FULL_SHARE = 0.8;
/** Approximate longest wait of a waking process for a core. */
const SCHEDULING_MS = 60;
/** Factor on the fair share of the cores, since the load average lags by a minute. */
const TURNS = 2;
/** Share of the excess time spent in computing from which the backend is the cause. */
const BACKEND_SHARE = 0.5;

/** Placement with a median latency above the expected one. */
interface Slow {
  readonly expectation: Expectation;
  readonly probes: RecentProbes;
  readonly measuredMs: number;
  readonly expectedMs: number;
}

/**
 * Finds placements with probes slower than validated, and the cause: contention, the backend, or an unknown one. Heat
 * has its own rule. A cause that slows several placements is reported once, for the slowest.
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
  if (expectation === null || expectation.service === null) return null;
  const probes = recentProbes(told, report, reports);
  if (probes === null) return null;
  const { p50Ms, p95Ms, source } = expectation.service;
  const measuredMs = aggregateQuantile(probes.serviceMs, 0.5);
  const isCrowded = hostSharesOf(report).others >= CROWDED_SHARE[level];
  const wakingMs = (isCrowded ? CROWDED_WAKING_MS : WAKING_MS)[level];
  if (measuredMs <= Math.max(FACTORS[level][source] * p50Ms, p50Ms + wakingMs)) return null;
  if (level === "open" && !isUnlikely(probes, p95Ms)) return null;
  return { expectation, probes, measuredMs, expectedMs: p50Ms };
}

/** Whether more probes exceed the 95th percentile than chance explains. */
function isUnlikely({ serviceMs, isLatest }: RecentProbes, p95Ms: number): boolean {
  const above = countAbove(serviceMs.sketch, p95Ms);
  return isLatest && 1 - binomialCdf(above - 1, serviceMs.count, 0.05) <= CHANCE;
}

function explain(slow: Slow, report: HealthReport, context: WatchContext, level: WatchLevel) {
  const { expectation, probes, measuredMs, expectedMs } = slow;
  if (isThrottled(expectation.deviceKey, report, context, level)) return null;
  const { own, others } = hostSharesOf(report);
  const { loadAverage, logicalCores, busyShare } = report.host;
  // Worst case: every other runnable process has its turn first. Contention cannot explain a longer time.
  const crowdedMs = expectedMs * TURNS * (1 + loadAverage / logicalCores) + SCHEDULING_MS;
  const isShared = measuredMs <= crowdedMs;
  const ratio = measuredMs / expectedMs;
  if (isShared && others >= CROWDED_SHARE[level]) return { ratio, evidence: tellContention(slow, others, level) };
  if (isShared && own >= OWN_SHARE && busyShare >= FULL_SHARE) return null;
  const { compute } = probes;
  const inBackendMs = compute.length === 0 ? 0 : aggregateQuantile(mergeAggregates(compute), 0.5) - expectedMs;
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
