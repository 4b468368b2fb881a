import type { DeviceHealth, HealthReport } from "../../protocol/health.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { ADVICE } from "./advice.ts";
import { isUnderused } from "./judge-utilisation.ts";
import { OF_NO_PLACEMENT, type WatchLevel, type WatchRule } from "./watch-rule.ts";

/** Of all that came: more is refused than now and then. */
const REFUSED_SHARE = { open: 0.05, hold: 0.02 } as const;
const LEAST_REFUSED = 5;
/** Of the room in the queue. */
export const FULL_QUEUE = { open: 0.5, hold: 0.25 } as const;
/** A queue in which the middle request waits so much longer than a batch takes, and so long, does not keep up. */
const WAITED_BATCHES = { open: 10, hold: 5 } as const;
const LEAST_WAIT_MS = 20;
const LEAST_WAITING = 4;

/** A device whose queue refuses, fills, or does not keep up. Where too little is computed, that is told instead. */
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
