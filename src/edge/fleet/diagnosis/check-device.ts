import type { DeviceHealth, DiagnosisCheck, HealthReport } from "../../../protocol/fleet/health.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { ADVICE, makeCheck, toPercent, type WatchContext } from "../watch/watch-rule.ts";
import { errorLimit, FULL_QUEUE, judgeErrors } from "../watch/judge-requests.ts";
import { isUnderused, judgeUtilisation, LEAST_COMPUTING } from "../watch/judge-utilisation.ts";

/** Least occupancy of a GPU core's thread slots: below it too few threads hide memory latency. */
const LEAST_OCCUPANCY = 0.25;
/** Least share of the measured roof, bandwidth or arithmetic, whichever is used more. */
const LEAST_ROOF_SHARE = 0.2;

/** Checks of one device. */
export function checkDevice(device: DeviceHealth, report: HealthReport, context: WatchContext): DiagnosisCheck[] {
  return [
    checkUtilisation(device, report, context),
    checkOccupancy(device),
    checkBandwidth(device),
    checkQueue(device),
    checkErrors(device, report, context),
  ];
}

function checkUtilisation(device: DeviceHealth, report: HealthReport, context: WatchContext): DiagnosisCheck {
  const { deviceKey, computeShare: measured, waiting, requests } = device;
  const isPoor = isUnderused(device, report, "open");
  const found = judgeUtilisation(report, context, "open").find((each) => each.deviceKey === deviceKey);
  const idle = waiting === 0 ? "nothing waits for it" : `${waiting} of ${requests} requests wait`;
  return makeCheck("utilisation", {
    deviceKey,
    measured,
    limit: LEAST_COMPUTING.open,
    unit: "share of the time",
    outcome: isPoor ? "fail" : "pass",
    detail: found?.detail ?? `${deviceKey} computes ${toPercent(measured)} of the time, and ${idle}.`,
    advice: found?.advice ?? ADVICE.utilisation,
  });
}

function checkOccupancy({ deviceKey, kernels }: DeviceHealth): DiagnosisCheck {
  const measured = kernels?.occupancyShare ?? null;
  return makeCheck("occupancy", {
    deviceKey,
    measured,
    limit: LEAST_OCCUPANCY,
    unit: "share of the threads",
    outcome: measured === null ? "unknown" : measured < LEAST_OCCUPANCY ? "fail" : "pass",
    detail:
      kernels === null || measured === null
        ? "No benchmark ran since the runner started on an architecture whose rules are known."
        : `${kernels.kernel}, when it last ran, could keep ${toPercent(measured)} of the threads resident (predicted).`,
    advice: ADVICE.occupancy,
  });
}

/**
 * Checks the use of bandwidth and arithmetic. A compute-bound kernel needs little bandwidth: it fails only if it uses
 * neither.
 */
function checkBandwidth({ deviceKey, kernels }: DeviceHealth): DiagnosisCheck {
  const measured = kernels?.bandwidthShare ?? null;
  const used = Math.max(measured ?? 0, kernels?.arithmeticShare ?? 0);
  return makeCheck("bandwidthShare", {
    deviceKey,
    measured,
    limit: LEAST_ROOF_SHARE,
    unit: "share of the bandwidth",
    outcome: measured === null ? "unknown" : used < LEAST_ROOF_SHARE ? "fail" : "pass",
    detail:
      kernels === null || measured === null
        ? "No benchmark ran since the runner started, or the device's roofs are not measured."
        : `${kernels.kernel}, when it last ran, used ${toPercent(measured)} of the bandwidth and ${toPercent(kernels.arithmeticShare ?? 0)} of the arithmetic that were measured.`,
    advice: ADVICE.bandwidth,
  });
}

function checkQueue({ deviceKey, waiting, longestWaiting }: DeviceHealth): DiagnosisCheck {
  const limit = FULL_QUEUE.open * LIMITS.deviceQueueRequests;
  return makeCheck("queueDepth", {
    deviceKey,
    measured: longestWaiting,
    limit,
    unit: "requests",
    outcome: longestWaiting >= limit ? "fail" : "pass",
    detail: `${waiting} requests wait for ${deviceKey}, and ${longestWaiting} did at most.`,
    advice: ADVICE.queueing,
  });
}

function checkErrors(device: DeviceHealth, report: HealthReport, context: WatchContext): DiagnosisCheck {
  const { deviceKey, requests, errors } = device;
  const of = Math.max(requests, errors);
  const found = judgeErrors(report, context, "open").find((each) => each.deviceKey === deviceKey);
  return makeCheck("errorRate", {
    deviceKey,
    measured: of === 0 ? null : errors / of,
    unit: "share of the requests",
    limit: errorLimit(context.expectations.filter((each) => each.deviceKey === deviceKey)),
    outcome: found !== undefined ? "fail" : of === 0 ? "unknown" : "pass",
    detail: found?.detail ?? (of === 0 ? `Nothing was asked of ${deviceKey}.` : `${errors} of ${of} requests failed.`),
    advice: found?.advice ?? ADVICE.errors,
  });
}
