import { expect, it } from "vitest";
import { isSoundReport } from "../../../../../src/edge/history/soundness.ts";
import { HealthReport } from "../../../../../src/protocol/fleet/health.ts";
import { LIMITS } from "../../../../../src/protocol/wire/limits.ts";
import { summarise } from "../../../../../src/stats/distribution/distribution.ts";
import { device, placement, report, sensor } from "../../../../edge/stack/health-samples.ts";

const times = summarise([1, 2, 3]);

it("takes a report of as many placements as may be watched, and no larger one", () => {
  const placements = Array.from({ length: LIMITS.watchedPlacements }, () => placement([5, 5.1, 4.9, 5.2, 5]));
  expect(isSoundReport(report(0, { placements }))).toBe(true);
  expect(isSoundReport(report(0, { sensors: [sensor({ source: "x".repeat(LIMITS.healthReportBytes) })] }))).toBe(false);
});

it("takes the largest report that a runner may send", () => {
  const spread = (count: number) =>
    summarise(Array.from({ length: count }, (_, at) => 0.001 * (LIMITS.maxBudgetMs / 0.001) ** ((at + 0.5) / count)));
  const name = (length: number) => "n".repeat(length);
  const [deviceKey, share] = [name(LIMITS.deviceKeyLength), 0.123_456_789_012_345_6];
  // One that is asked for looks back over two spans, with five probes of each.
  const probed = { serviceMs: spread(10), computeMs: spread(10), probes: 10 };
  const configuration = { threads: LIMITS.intraOpThreads, maxRows: LIMITS.batchRows, maxInFlight: 512 };
  const names = { variant: name(LIMITS.nameLength), deviceKey, backend: "ort-webgpu" as const };
  const placements = Array.from({ length: LIMITS.watchedPlacements }, () => {
    return { ...placement([5]), ...names, ...probed, configuration };
  });
  const kernels = {
    at: new Date().toISOString(),
    kernel: name(LIMITS.nameLength),
    occupancyShare: share,
    bandwidthShare: share,
    arithmeticShare: share,
    submissionsPerSecond: share,
    synchronisationShare: share,
  };
  // Its requests waited from a microsecond to the longest budget.
  const served = { queueMs: spread(50_000), requests: 50_000, batches: 50_000, rows: 256 * 50_000 };
  const shares = { busyShare: share, computeShare: share, transferShare: share, processCpuShare: share };
  const devices = Array.from({ length: LIMITS.devices }, () => device({ deviceKey, ...served, ...shares, kernels }));
  const read = { clockMhz: share, maxClockMhz: share, temperatureC: share, limitC: share, utilisation: share };
  const sensors = Array.from({ length: LIMITS.watchedSensors }, () => {
    return sensor({ of: deviceKey, ...read, throttled: name(128), source: name(64) });
  });
  const largest = report(0, { placements, devices, sensors });
  expect(HealthReport.parse(largest)).toEqual(largest);
  expect(isSoundReport(largest)).toBe(true);
});

it.each([
  ["of a queue", { devices: [device({ queueMs: { ...times, count: 4 } })] }],
  ["of nothing", { devices: [device({ queueMs: { ...times, count: 0, sketch: summarise([1]).sketch } })] }],
  ["of probes", { placements: [{ ...placement([5]), serviceMs: { ...times, sketch: "no sketch" } }] }],
  ["of computing", { placements: [{ ...placement([5]), computeMs: { ...times, min: 9 } }] }],
])("refuses a distribution %s that cannot be merged", (_, told) => {
  expect(isSoundReport(report(0, told))).toBe(false);
});
