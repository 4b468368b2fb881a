import type { DeviceHealth, HealthReport } from "../../../protocol/fleet/health.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { binomialInterval } from "../../../stats/distribution/intervals.ts";
import { type Expectation, findExpectation } from "./expectation.ts";
import { isUnderused } from "./judge-utilisation.ts";
import {
  ADVICE,
  type Evidence,
  OF_NO_PLACEMENT,
  type WatchContext,
  type WatchLevel,
  type WatchRule,
} from "./watch-rule.ts";

/** Default limit of the share of failed requests, where no requirement sets one. */
export const ERROR_SHARE = 0.01;
/** Confidence required that the share is above its limit. */
const CONFIDENCE = { open: 0.99, hold: 0.9 } as const;
/** Least number of failures: fewer may be a single incident. */
const LEAST_ERRORS = { open: 3, hold: 1 } as const;
/** Share of failed probes of a placement; probes are few. */
const FAILED_PROBES = { open: 0.5, hold: 0.2 } as const;
/** Restarts of a device's process, over the reports kept, that count as repeated. */
const LEAST_RESTARTS = 3;

/** Finds devices with failing requests or a process that keeps ending, and placements with failing probes. */
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

/** Strictest error limit among the validations' requirements. */
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

/** Share of all requests that were refused; below it refusals are occasional. */
const REFUSED_SHARE = { open: 0.05, hold: 0.02 } as const;
const LEAST_REFUSED = 5;
/** Filled share of the queue. */
export const FULL_QUEUE = { open: 0.5, hold: 0.25 } as const;
/** Median wait, in batch durations and in time, at which a queue does not keep up. */
const WAITED_BATCHES = { open: 10, hold: 5 } as const;
const LEAST_WAIT_MS = 20;
const LEAST_WAITING = 4;

/**
 * Finds devices whose queue refuses, fills or does not keep up. Low utilisation is reported instead where it applies.
 */
export const judgeQueueing: WatchRule = (report, _context, level) =>
  report.devices.flatMap((device) => {
    const found = isUnderused(device, report, level) ? null : findQueueing(device, report, level);
    if (found === null) return [];
    const { deviceKey } = device;
    const about = { key: `queueing ${deviceKey}`, kind: "queueing", deviceKey, ...OF_NO_PLACEMENT } as const;
    return [{ ...about, ...found, advice: ADVICE.queueing }];
  });

function findQueueing(device: DeviceHealth, { spanMs }: HealthReport, level: WatchLevel) {
  const { deviceKey, requests, refused, waiting, longestWaiting, queueMs, busyShare, batches } = device;
  const refusedShare = refused / Math.max(requests, refused, 1);
  if (refused >= LEAST_REFUSED && refusedShare > REFUSED_SHARE[level]) {
    const detail = `${deviceKey} took ${refused} of ${Math.max(requests, refused)} requests not, or gave them up in its queue.`;
    return { measured: refusedShare, expected: REFUSED_SHARE[level], unit: "share of the requests", detail };
  }
  const room = FULL_QUEUE[level] * LIMITS.deviceQueueRequests;
  if (waiting > 0 && longestWaiting >= room) {
    const detail = `Up to ${longestWaiting} requests waited for ${deviceKey}, which has room for ${LIMITS.deviceQueueRequests}.`;
    return { measured: longestWaiting, expected: room, unit: "requests", detail };
  }
  const batchMs = batches === 0 ? Number.POSITIVE_INFINITY : (busyShare * spanMs) / batches;
  const limitMs = Math.max(LEAST_WAIT_MS, WAITED_BATCHES[level] * batchMs);
  if (queueMs !== null && waiting >= LEAST_WAITING && queueMs.p50 > limitMs) {
    const detail = `The middle request waits ${Math.round(queueMs.p50)} ms for ${deviceKey}, where a batch takes ${Number(batchMs.toPrecision(2))} ms; ${waiting} wait now.`;
    return { measured: queueMs.p50, expected: limitMs, unit: "ms", detail };
  }
  return null;
}
