import type { DiagnosisCheck, HealthReport } from "../../../protocol/fleet/health.ts";
import { ADVICE, hostSharesOf, makeCheck, toPercent, type WatchContext } from "../watch/watch-rule.ts";
import { GROWN_BYTES, judgeGrowth, judgeThrottling } from "../watch/judge-host.ts";
import { CROWDED_SHARE } from "../watch/judge-slowness.ts";
import { memoryTrend } from "../watch/memory-sample.ts";

/** Evictions from a memory tier per minute that show it is too small; a few are normal. */
const PAGE_OUTS_A_MINUTE = 6;

/** Checks of the machine and of the runner as a whole. */
export function checkHost(report: HealthReport, context: WatchContext): DiagnosisCheck[] {
  return [
    checkPageOuts(report, context),
    checkLoad(report),
    checkMemory(report, context),
    ...checkThrottling(report, context),
  ];
}

function checkPageOuts(report: HealthReport, { reports }: WatchContext): DiagnosisCheck {
  const told = reports.length === 0 ? [report] : reports;
  const spanMs = told.reduce((sum, each) => sum + each.spanMs, 0);
  const pageOuts = told.reduce((sum, { memory }) => sum + memory.pageOuts, 0);
  const measured = spanMs === 0 ? null : (pageOuts * 60_000) / spanMs;
  return makeCheck("pageOuts", {
    measured,
    limit: PAGE_OUTS_A_MINUTE,
    unit: "items a minute",
    outcome: measured === null ? "unknown" : measured > PAGE_OUTS_A_MINUTE ? "fail" : "pass",
    detail: `${pageOuts} items left a tier of memory for want of room in ${Math.round(spanMs / 1_000)} s.`,
    advice: ADVICE.pageOuts,
  });
}

function checkLoad(report: HealthReport): DiagnosisCheck {
  const { own, others } = hostSharesOf(report);
  const { loadAverage, logicalCores } = report.host;
  return makeCheck("hostLoad", {
    measured: others,
    limit: CROWDED_SHARE.open,
    unit: "share of the cores",
    outcome: others >= CROWDED_SHARE.open ? "fail" : "pass",
    detail: `Other processes take ${toPercent(others)} of ${logicalCores} cores, the runner ${toPercent(own)}; ${Number(loadAverage.toPrecision(3))} want one.`,
    advice: ADVICE.contention,
  });
}

function checkMemory(report: HealthReport, context: WatchContext): DiagnosisCheck {
  const [found] = judgeGrowth(report, context, "open");
  const trend = memoryTrend(context.memory, null);
  return makeCheck("memoryGrowth", {
    deviceKey: found?.deviceKey ?? null,
    measured: found?.measured ?? trend?.bytesPerHour ?? null,
    limit: null,
    unit: "bytes per hour",
    outcome: found !== undefined ? "fail" : trend === null ? "unknown" : "pass",
    detail:
      found?.detail ??
      (trend === null
        ? "It is known once the runner has run for an hour."
        : `Growth that goes on, by ${GROWN_BYTES / 2 ** 20} MiB or more, is not seen.`),
    advice: ADVICE.memory,
  });
}

function checkThrottling(report: HealthReport, context: WatchContext): DiagnosisCheck[] {
  const found = judgeThrottling(report, context, "open");
  const isRead = report.sensors.some(
    ({ clockMhz, temperatureC, throttled }) => clockMhz !== null || temperatureC !== null || throttled !== null,
  );
  if (!isRead) {
    const nothing = { measured: null, limit: null, unit: "°C", outcome: "unknown", advice: ADVICE.throttling } as const;
    return [makeCheck("throttling", { ...nothing, detail: "Neither clocks nor temperatures can be read here." })];
  }
  return report.sensors.map(({ of, temperatureC, limitC, clockMhz }) => {
    const evidence = found.find(({ deviceKey }) => deviceKey === of);
    return makeCheck("throttling", {
      deviceKey: of,
      measured: temperatureC ?? clockMhz,
      limit: temperatureC === null ? null : limitC,
      unit: temperatureC === null ? "MHz" : "°C",
      outcome: evidence === undefined ? ((temperatureC ?? clockMhz) === null ? "unknown" : "pass") : "fail",
      detail: evidence?.detail ?? `${of} is not seen to slow itself down.`,
      advice: ADVICE.throttling,
    });
  });
}
