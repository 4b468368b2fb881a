import type { HealthReport } from "../../protocol/health.ts";
import { binomialInterval } from "../../stats/binomial.ts";
import { ADVICE } from "./advice.ts";
import { type Expectation, findExpectation } from "./expectation.ts";
import { type Evidence, OF_NO_PLACEMENT, type WatchContext, type WatchLevel, type WatchRule } from "./watch-rule.ts";

/** More than this share of failed requests is too much, where no requirement says another. */
export const ERROR_SHARE = 0.01;
/** How sure it must be that the share is above its limit. */
const CONFIDENCE = { open: 0.99, hold: 0.9 } as const;
/** Failures that may be one mishap. */
const LEAST_ERRORS = { open: 3, hold: 1 } as const;
/** Of a placement's probes, of which there are few. */
const FAILED_PROBES = { open: 0.5, hold: 0.2 } as const;
/** Restarts of a device's process in the reports that are kept: a process that ends again and again. */
const LEAST_RESTARTS = 3;

/** Devices whose requests fail, or whose process keeps ending, and placements whose probes fail. */
export const judgeErrors: WatchRule = (report, context, level) => [
  ...judgeRequests(report, context, level),
  ...judgeProbes(report, context, level),
  ...judgeRestarts(report, context),
];

function judgeRequests(report: HealthReport, { expectations }: WatchContext, level: WatchLevel): Evidence[] {
  return report.devices.flatMap(({ deviceKey, requests, errors }) => {
    const of = Math.max(requests, errors);
    const limit = errorLimit(expectations.filter((each) => each.deviceKey === deviceKey));
    if (errors < LEAST_ERRORS[level] || binomialInterval(errors, of, CONFIDENCE[level]).low <= limit) return [];
    const detail = `${errors} of ${of} requests failed on ${deviceKey}.`;
    const about = { key: `errors ${deviceKey}`, kind: "errors", deviceKey, ...OF_NO_PLACEMENT } as const;
    const levels = { measured: errors / of, expected: limit, unit: "share of the requests" };
    return [{ ...about, ...levels, detail, advice: ADVICE.errors }];
  });
}

/** The strictest that a validation asked for. */
export function errorLimit(expectations: readonly Expectation[]): number {
  const asked = expectations.flatMap(({ requirements }) =>
    requirements.flatMap(({ metric, atMost }) => (metric === "errorRate" && atMost !== undefined ? [atMost] : [])),
  );
  return asked.length === 0 ? ERROR_SHARE : Math.min(...asked);
}

function judgeProbes(report: HealthReport, { expectations }: WatchContext, level: WatchLevel): Evidence[] {
  return report.placements.flatMap((told) => {
    const { probes, errors, deviceKey } = told;
    const expectation = findExpectation(expectations, told);
    if (expectation === null || errors < 2 || errors < FAILED_PROBES[level] * probes) return [];
    const { placementId, subject } = expectation;
    const about = {
      key: `errors ${placementId}`,
      kind: "errors",
      deviceKey,
      placementId,
      subject,
      cause: null,
    } as const;
    const levels = { measured: errors / Math.max(probes, errors), expected: 0, unit: "share of the probes" };
    const detail = `${errors} of ${Math.max(probes, errors)} probes of ${subject} failed.`;
    return [{ ...about, ...levels, detail, advice: ADVICE.errors }];
  });
}

function judgeRestarts(report: HealthReport, { reports }: WatchContext): Evidence[] {
  const first = reports.find(({ startedAt }) => startedAt === report.startedAt);
  return report.devices.flatMap(({ deviceKey, restarts }) => {
    const before = first?.devices.find((device) => device.deviceKey === deviceKey)?.restarts ?? restarts;
    const more = restarts - before;
    if (more < LEAST_RESTARTS) return [];
    const detail = `The process of ${deviceKey} ended ${more} times within some minutes and was started again.`;
    const about = { key: `restarts ${deviceKey}`, kind: "errors", deviceKey, ...OF_NO_PLACEMENT } as const;
    return [{ ...about, measured: more, expected: 0, unit: "restarts", detail, advice: ADVICE.restarts }];
  });
}
