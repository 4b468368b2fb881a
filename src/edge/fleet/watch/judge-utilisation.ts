import type { DeviceHealth, Finding, HealthReport } from "../../../protocol/fleet/health.ts";
import {
  ADVICE,
  hostSharesOf,
  OF_NO_PLACEMENT,
  toPercent,
  type WatchContext,
  type WatchLevel,
  type WatchRule,
} from "./watch-rule.ts";

/** Of the span, computing, while requests wait: less is too little. */
export const LEAST_COMPUTING = { open: 0.5, hold: 0.6 } as const;
/** Requests that came, and that wait now: of fewer nothing is said. */
const LEAST_REQUESTS = 20;
const LEAST_WAITING = 2;
/** Of the span: from here on, moving data or waiting for the device is what a batch does instead of computing. */
const TELLING_SHARE = 0.2;
/** Of all cores, or of the process's one: the host has no more to give. */
const HOST_FULL = 0.9;
const LATE_TIMERS_MS = 50;
/** Of the rows that a calibration joined. */
const SMALL_SHARE = 0.25;

type Cause = NonNullable<Finding["cause"]>;

/** A device that computes little while requests wait for it, and why, most likely. */
export const judgeUtilisation: WatchRule = (report, context, level) =>
  report.devices
    .filter((device) => isUnderused(device, report, level))
    .map((device) => {
      const { deviceKey, computeShare, waiting } = device;
      const cause = findCause(device, report, context);
      return {
        key: `low-utilisation ${deviceKey}`,
        kind: "low-utilisation",
        deviceKey,
        ...OF_NO_PLACEMENT,
        cause,
        measured: computeShare,
        expected: LEAST_COMPUTING[level],
        unit: "share of the time",
        detail: `${deviceKey} computes ${toPercent(computeShare)} of the time while ${waiting} requests wait${cause === null ? "" : `: ${tellCause(cause, device)}`}.`,
        advice: cause === null ? ADVICE.utilisation : CAUSE_ADVICE[cause],
      };
    });

/** Whether a device has what to do and does little of it. A job has the device to itself, so its span says nothing. */
export function isUnderused(device: DeviceHealth, { jobShare }: HealthReport, level: WatchLevel): boolean {
  return (
    device.computeShare < LEAST_COMPUTING[level] &&
    device.requests >= LEAST_REQUESTS &&
    device.waiting >= LEAST_WAITING &&
    jobShare < 0.5
  );
}

const CAUSE_ADVICE: Record<Cause, string> = {
  "small-batches": ADVICE.batches,
  "host-bound": ADVICE.hostBound,
  synchronisation: ADVICE.synchronisation,
  "transfer-bound": ADVICE.transfer,
};

/**
 * Moving data takes as long as computing; or few of the rows that wait are joined, of those that calibration joined; or
 * the host is full, or late; or batches are under way in which nothing computes or moves: the time between the two.
 */
function findCause(device: DeviceHealth, report: HealthReport, { expectations }: WatchContext): Cause | null {
  const { deviceKey, busyShare, computeShare, transferShare, processCpuShare, waiting } = device;
  if (transferShare >= TELLING_SHARE && transferShare >= computeShare) return "transfer-bound";
  const rows = rowsPerBatch(device);
  const measured = expectations.filter((each) => each.deviceKey === deviceKey).map(({ batchRows }) => batchRows);
  if (rows < waiting && rows <= SMALL_SHARE * Math.max(...measured, 1)) return "small-batches";
  const { own, others } = hostSharesOf(report);
  const isHostFull = own + others >= HOST_FULL || report.host.eventLoopLagMs >= LATE_TIMERS_MS;
  if (isHostFull || (deviceKey !== "cpu" && (processCpuShare ?? 0) >= HOST_FULL)) return "host-bound";
  if (busyShare - computeShare - transferShare >= TELLING_SHARE) return "synchronisation";
  return null;
}

function rowsPerBatch({ rows, batches }: DeviceHealth): number {
  return batches === 0 ? 0 : rows / batches;
}

function tellCause(cause: Cause, device: DeviceHealth): string {
  const { busyShare, computeShare, transferShare } = device;
  switch (cause) {
    case "transfer-bound":
      return `moving inputs and outputs takes ${toPercent(transferShare)}`;
    case "small-batches":
      return `its batches hold ${Number(rowsPerBatch(device).toPrecision(2))} rows`;
    case "host-bound":
      return "the host cannot feed it";
    case "synchronisation":
      return `for ${toPercent(busyShare - computeShare - transferShare)} a batch is under way and nothing computes`;
  }
}
