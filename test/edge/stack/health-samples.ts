import type { DeviceHealth, HealthReport, PlacementHealth, Sensor } from "../../../src/protocol/fleet/health.ts";
import { DEFAULT_CONFIGURATION } from "../../../src/protocol/fleet/serving.ts";
import type { Expectation } from "../../../src/edge/fleet/watch/expectation.ts";
import { summarise } from "../../../src/stats/distribution/distribution.ts";

const SPAN_MS = 10_000;
const START_MS = Date.parse("2026-06-01T00:00:00.000Z");
export const MiB = 2 ** 20;

/** A placement that was validated at a median of 5 ms and a 95th percentile of 6 ms. */
export const expectation: Expectation = {
  placementId: "plc_01jzzzzzzzzzzzzzzzzzzzzzzz",
  modelVersionId: "ver_01jzzzzzzzzzzzzzzzzzzzzzzz",
  variant: "fp32",
  deviceKey: "cpu",
  backend: "ort-cpu",
  subject: "lenet5@1 fp32 on cpu by ort-cpu",
  configuration: DEFAULT_CONFIGURATION,
  service: { source: "validated", p50Ms: 5, p95Ms: 6 },
  requirements: [],
  batchRows: 32,
};

export function device(told: Partial<DeviceHealth> = {}): DeviceHealth {
  return {
    deviceKey: "cpu",
    busyShare: 0,
    computeShare: 0,
    transferShare: 0,
    requests: 0,
    batches: 0,
    rows: 0,
    refused: 0,
    errors: 0,
    waiting: 0,
    longestWaiting: 0,
    queueMs: null,
    restarts: 0,
    processRssBytes: 200 * MiB,
    processCpuShare: 0.01,
    kernels: null,
    ...told,
  };
}

export function sensor(told: Partial<Sensor> = {}): Sensor {
  const unread = { clockMhz: null, maxClockMhz: null, temperatureC: null, limitC: null, utilisation: null };
  return { of: "cpu", ...unread, throttled: null, source: "sysfs", ...told };
}

/** Probes of these milliseconds, by default all in the backend. */
export function placement(serviceMs: readonly number[], computeMs: readonly number[] = serviceMs): PlacementHealth {
  const { modelVersionId, variant, deviceKey, backend, configuration } = expectation;
  return {
    modelVersionId,
    variant,
    deviceKey,
    backend,
    configuration,
    errors: 0,
    probes: serviceMs.length,
    serviceMs: serviceMs.length === 0 ? null : summarise(serviceMs),
    computeMs: computeMs.length === 0 ? null : summarise(computeMs),
  };
}

export type ReportFields = Partial<Omit<HealthReport, "host">> & { readonly host?: Partial<HealthReport["host"]> };

/** The report with this index; idle and healthy by default. */
export function report(index: number, { host, ...told }: ReportFields = {}): HealthReport {
  return {
    at: new Date(START_MS + (index + 1) * SPAN_MS).toISOString(),
    startedAt: new Date(START_MS).toISOString(),
    spanMs: SPAN_MS,
    jobShare: 0,
    host: {
      logicalCores: 2,
      loadAverage: 0.1,
      busyShare: 0.05,
      ownShare: 0.01,
      freeBytes: 2 ** 32,
      memoryBytes: 2 ** 33,
      ownRssBytes: 400 * MiB,
      eventLoopLagMs: 1,
      ...host,
    },
    sensors: [],
    devices: [device()],
    placements: [placement([5, 5.1, 4.9, 5.2, 5])],
    memory: { pageOuts: 0, migrationBytes: 0 },
    ...told,
  };
}
