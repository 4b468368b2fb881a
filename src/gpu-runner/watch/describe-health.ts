import type { DeviceHealth, HealthReport, PlacementHealth } from "../../protocol/fleet/health.ts";
import { closeDistribution, summarise } from "../../stats/distribution/distribution.ts";
import type { SpanTally } from "./span-tally.ts";

type Host = HealthReport["host"];

/** State of a runner at the end of a span. */
export interface HealthNow extends Pick<HealthReport, "at" | "startedAt" | "sensors"> {
  readonly host: Pick<Host, "logicalCores" | "loadAverage" | "freeBytes" | "memoryBytes" | "ownRssBytes">;
  readonly devices: readonly Pick<
    DeviceHealth,
    "deviceKey" | "waiting" | "computing" | "restarts" | "processRssBytes" | "kernels"
  >[];
  /** Each with its key in the tally. */
  readonly placements: readonly [
    key: string,
    Pick<PlacementHealth, "modelVersionId" | "variant" | "deviceKey" | "backend" | "configuration">,
  ][];
}

/** Report of a span. */
export function describeHealth(span: SpanTally, now: HealthNow): HealthReport {
  const { spanMs, coresBusyMs, coresMs, ownCpuMs, lagMs, pageOuts, migrationBytes } = span;
  return {
    at: now.at,
    startedAt: now.startedAt,
    spanMs,
    jobShare: shareOf(span.jobMs, spanMs),
    host: {
      ...now.host,
      busyShare: shareOf(coresBusyMs, coresMs),
      ownShare: ownCpuMs === null ? null : shareOf(ownCpuMs, spanMs * now.host.logicalCores),
      eventLoopLagMs: lagMs,
    },
    sensors: now.sensors,
    devices: now.devices.map((device) => describeDevice(span, device)),
    placements: now.placements.map(([key, placement]) => ({ ...placement, ...describeProbes(span, key) })),
    memory: { pageOuts, migrationBytes },
  };
}

function describeDevice({ spanMs, devices }: SpanTally, now: HealthNow["devices"][number]): DeviceHealth {
  const { serving, cpuMs = null } = devices.get(now.deviceKey) ?? {};
  return {
    ...now,
    busyShare: shareOf(serving?.busyMs ?? 0, spanMs),
    computeShare: shareOf(serving?.computeMs ?? 0, spanMs),
    transferShare: shareOf(serving?.transferMs ?? 0, spanMs),
    requests: serving?.requests ?? 0,
    batches: serving?.batches ?? 0,
    rows: serving?.rows ?? 0,
    refused: serving?.refused ?? 0,
    errors: serving?.errors ?? 0,
    longestWaiting: serving?.longestWaiting ?? 0,
    queueMs: serving === undefined ? null : closeDistribution(serving.queueMs),
    processCpuShare: cpuMs === null ? null : shareOf(cpuMs, spanMs),
  };
}

function describeProbes({ probes }: SpanTally, key: string) {
  const { probes: made = 0, errors = 0, serviceMs = [], computeMs = [] } = probes.get(key) ?? {};
  return {
    probes: made,
    errors,
    serviceMs: serviceMs.length === 0 ? null : summarise(serviceMs),
    computeMs: computeMs.length === 0 ? null : summarise(computeMs),
  };
}

/** 0 for a span without length. */
function shareOf(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}
