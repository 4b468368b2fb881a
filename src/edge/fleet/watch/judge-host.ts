import type { HealthReport, Sensor } from "../../../protocol/fleet/health.ts";
import { median } from "../../../stats/distribution/summary.ts";
import { memoryTrend } from "./memory-sample.ts";
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

/**
 * Share of all cores that other processes use. Beyond it the runner lacks the capacity that was validated, even if
 * single probes are fast.
 */
const FULL_SHARE = { open: 0.8, hold: 0.6 } as const;
/** Consecutive reports required, this one included: a build or a backup is temporary. */
const REPORTS = 2;

/**
 * Finds other processes that occupy the cores. The scheduler favours processes that wake briefly, so probes of a small
 * model stay fast; requests under load will be slow.
 */
export const judgeCrowding: WatchRule = (report, { reports }, level) => {
  const upTo = reports.filter(({ at, startedAt }) => at <= report.at && startedAt === report.startedAt).slice(-REPORTS);
  const least = Math.min(...upTo.map((each) => hostSharesOf(each).others));
  if (upTo.length < REPORTS || least < FULL_SHARE[level]) return [];
  return [
    {
      key: "host-contention",
      kind: "host-contention",
      deviceKey: null,
      ...OF_NO_PLACEMENT,
      measured: hostSharesOf(report).others,
      expected: FULL_SHARE[level],
      unit: "share of the cores",
      detail: `Other processes have taken ${toPercent(least)} of the ${describeCores(report)} or more, report after report. Single probes may not be slower for it, but load will be: the rest is all that the runner can count on.`,
      advice: ADVICE.contention,
    },
  ];
};

function describeCores({ host }: HealthReport): string {
  return host.logicalCores === 1 ? "core" : `${host.logicalCores} cores`;
}

const MiB = 2 ** 20;
/** Least growth over the samples, in bytes and as a share of the memory held: a cache may grow by less. */
export const GROWN_BYTES = 64 * MiB;
export const GROWN_SHARE = 0.15;
/** Largest probability that a rise is due to chance. Strict, because samples a minute apart are not independent. */
const CHANCE = { open: 1e-4, hold: 1e-2 } as const;

/** Finds steady memory growth of the runner or of one device's process. */
export const judgeGrowth: WatchRule = (report, context, level) => {
  const devices = report.devices.flatMap(({ deviceKey }) => judgeTrend(deviceKey, context, level) ?? []);
  if (devices.length > 0) return devices;
  return [judgeTrend(null, context, level) ?? []].flat();
};

function judgeTrend(deviceKey: string | null, { memory }: WatchContext, level: WatchLevel): Evidence | null {
  const trend = memoryTrend(memory, deviceKey);
  if (trend === null || !trend.isSteady || trend.p > CHANCE[level]) return null;
  const { grownBytes, latestBytes, bytesPerHour } = trend;
  if (grownBytes < GROWN_BYTES || grownBytes < GROWN_SHARE * latestBytes) return null;
  const what = deviceKey === null ? "The runner with its processes" : `The process of ${deviceKey}`;
  return {
    key: `memory-growth ${deviceKey ?? "runner"}`,
    kind: "memory-growth",
    deviceKey,
    ...OF_NO_PLACEMENT,
    measured: Math.round(bytesPerHour),
    expected: 0,
    unit: "bytes per hour",
    detail: `${what} grew by ${Math.round(grownBytes / MiB)} MiB to ${Math.round(latestBytes / MiB)} MiB, by ${Math.round(bytesPerHour / MiB)} MiB an hour, and goes on.`,
    advice: ADVICE.memory,
  };
}

/** Share of the usual clock under load below which a clock is slow. */
const SLOW_CLOCK = { open: 0.8, hold: 0.9 } as const;
/** Least load of a processor that counts as loaded. */
const LOADED_SHARE = 0.3;
/**
 * Reports under similar or higher load that establish the usual clock; the latest are excluded, since they are under
 * judgement.
 */
const USUAL_REPORTS = 5;
const LATEST_REPORTS = 6;
/** Tolerance of a comparable load: a processor with fewer busy cores clocks higher, so lower loads are ignored. */
const LIKE_LOAD = 0.1;
/** Distance from its limit, in °C, within which a processor counts as hot. */
const NEAR_LIMIT_C = { open: 1, hold: 3 } as const;
/** Throttle reasons of a driver that are harmless. */
const HARMLESS = /idle|power.?cap|application|sync.?boost|display/i;

/** Finds thermal throttling: the driver reports it, or the clock falls under constant load. */
export const judgeThrottling: WatchRule = (report, context, level) =>
  report.sensors.flatMap((sensor) => judgeSensor(sensor, report, context, level) ?? []);

/** Whether a report shows a device's processor throttled. */
export function isThrottled(
  deviceKey: string,
  report: HealthReport,
  context: WatchContext,
  level: WatchLevel,
): boolean {
  const of = deviceKey.startsWith("gpu") ? deviceKey : "cpu";
  return report.sensors.some((sensor) => sensor.of === of && judgeSensor(sensor, report, context, level) !== null);
}

function judgeSensor(sensor: Sensor, report: HealthReport, context: WatchContext, level: WatchLevel): Evidence | null {
  const { clockMhz, temperatureC, limitC, throttled } = sensor;
  const usualMhz = usualClockMhz(sensor.of, loadOf(sensor, report), context);
  const isSaid = throttled !== null && !HARMLESS.test(throttled);
  const isLoaded = loadOf(sensor, report) >= LOADED_SHARE;
  const isSlow = isLoaded && clockMhz !== null && usualMhz !== null && clockMhz < SLOW_CLOCK[level] * usualMhz;
  const isHot = temperatureC !== null && limitC !== null && temperatureC >= limitC - NEAR_LIMIT_C[level];
  // A low clock alone may be the governor's choice; an unreadable temperature does not rule out heat.
  if (!isSaid && !(isSlow && (isHot || temperatureC === null || limitC === null))) return null;
  return {
    key: keyOf(sensor.of),
    kind: "thermal-throttling",
    deviceKey: sensor.of,
    ...OF_NO_PLACEMENT,
    ...levelsOf(sensor, usualMhz),
    detail: `${sensor.of} slows itself down${isSaid ? `, as it says for "${throttled}"` : ""}: ${tellClock(clockMhz, usualMhz)}, ${tellHeat(temperatureC, limitC)} (${sensor.source}).`,
    advice: ADVICE.throttling,
  };
}

function levelsOf({ clockMhz, temperatureC, limitC }: Sensor, usualMhz: number | null) {
  if (clockMhz !== null && usualMhz !== null) return { measured: clockMhz, expected: usualMhz, unit: "MHz" };
  if (temperatureC !== null && limitC !== null) return { measured: temperatureC, expected: limitC, unit: "°C" };
  return { measured: 1, expected: 0, unit: "throttled" };
}

function tellClock(clockMhz: number | null, usualMhz: number | null): string {
  if (clockMhz === null) return "its clock cannot be read";
  return `${Math.round(clockMhz)} MHz${usualMhz === null ? "" : ` where ${Math.round(usualMhz)} MHz are usual under load`}`;
}

function tellHeat(temperatureC: number | null, limitC: number | null): string {
  if (temperatureC === null) return "its temperature cannot be read";
  return `at ${Math.round(temperatureC)} °C${limitC === null ? "" : `, with a limit of ${Math.round(limitC)} °C`}`;
}

function loadOf(sensor: Sensor, { host, devices }: HealthReport): number {
  if (sensor.of === "cpu") return host.busyShare;
  return sensor.utilisation ?? devices.find(({ deviceKey }) => deviceKey === sensor.of)?.busyShare ?? 0;
}

/** Usual clock under such a load before the latest reports, or before the finding; null with too few reports. */
function usualClockMhz(of: string, load: number, { reports, open }: WatchContext): number | null {
  const fallen = open.find(({ key }) => key === keyOf(of));
  if (fallen?.finding.unit === "MHz") return fallen.finding.expected;
  const clocks = reports
    .slice(0, -LATEST_REPORTS)
    .flatMap((report) =>
      report.sensors
        .filter((sensor) => sensor.of === of && loadOf(sensor, report) >= Math.max(LOADED_SHARE, load - LIKE_LOAD))
        .flatMap(({ clockMhz }) => clockMhz ?? []),
    );
  return clocks.length < USUAL_REPORTS ? null : median(clocks);
}

function keyOf(of: string): string {
  return `thermal-throttling ${of}`;
}
