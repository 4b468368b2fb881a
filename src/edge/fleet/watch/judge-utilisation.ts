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

/** Least share of the span spent computing while requests wait. */
export const LEAST_COMPUTING = { open: 0.5, hold: 0.6 } as const;
/** Fewest requests received, and fewest waiting now, for a judgement. */
const LEAST_REQUESTS = 20;
const LEAST_WAITING = 2;
/** Share of the span from which data movement or waiting for the device explains the lack of computing. */
const TELLING_SHARE = 0.2;
/** Share of all cores, or of the process's one core, from which the host is the bottleneck. */
const HOST_FULL = 0.9;
const LATE_TIMERS_MS = 50;
/** Share of the calibrated batch's rows below which batches are small. */
const SMALL_SHARE = 0.25;

type Cause = NonNullable<Finding["cause"]>;

/** Finds devices that compute little while requests wait, with the most likely cause. */
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

/**
 * Whether a device computes little although requests wait. A span with a job is ignored, since a job has the device to
 * itself.
 */
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
 * Cause of low utilisation: data movement as long as computing, batches far below the calibrated rows, a full or late
 * host, or idle time within batches, between moving and computing.
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
