import { describe, expect, it } from "vitest";
import { ServingMeter } from "../../../../src/gpu-runner/serving/queue/serving-meter.ts";
import { describeHealth, type HealthNow } from "../../../../src/gpu-runner/watch/describe-health.ts";
import { mergeSpans, NO_SPAN, type SpanTally } from "../../../../src/gpu-runner/watch/span-tally.ts";
import { HealthReport } from "../../../../src/protocol/fleet/health.ts";
import { createId } from "../../../../src/protocol/wire/id.ts";
import { DEFAULT_CONFIGURATION } from "../../../../src/protocol/fleet/serving.ts";

const now: HealthNow = {
  at: "2026-11-22T03:00:10.000Z",
  startedAt: "2026-11-22T02:00:00.000Z",
  sensors: [],
  host: { logicalCores: 4, loadAverage: 1.5, freeBytes: 1e9, memoryBytes: 4e9, ownRssBytes: 2e8 },
  devices: [{ deviceKey: "cpu", waiting: 3, restarts: 1, processRssBytes: 1e8, kernels: null }],
  placements: [
    [
      "cpu a",
      {
        modelVersionId: createId("modelVersion"),
        variant: "fp32",
        deviceKey: "cpu",
        backend: "ort-cpu",
        configuration: DEFAULT_CONFIGURATION,
      },
    ],
  ],
};

/** One second in which the CPU's queue was busy for this long with one request, which waited as long. */
function span(busyMs: number, changes: Partial<SpanTally> = {}): SpanTally {
  const meter = new ServingMeter();
  meter.came(busyMs);
  meter.began(0);
  meter.computed(2, { uploadMs: 1, computeMs: busyMs / 2, readbackMs: 1 }, [busyMs]);
  meter.ended(busyMs);
  return {
    spanMs: 1_000,
    jobMs: 250,
    coresBusyMs: 2_000,
    coresMs: 4_000,
    ownCpuMs: 400,
    lagMs: busyMs / 100,
    pageOuts: 1,
    migrationBytes: 10,
    devices: new Map([["cpu", { serving: meter.cut(1_000), cpuMs: 300 }]]),
    probes: new Map([["cpu a", { probes: 2, errors: 1, serviceMs: [busyMs], computeMs: [1] }]]),
    ...changes,
  };
}

describe("a report", () => {
  it("says shares of its span, and is of the protocol", () => {
    const report = describeHealth(span(100), now);
    expect(HealthReport.parse(report)).toEqual(report);
    expect(report).toMatchObject({ spanMs: 1_000, jobShare: 0.25, memory: { pageOuts: 1, migrationBytes: 10 } });
    expect(report.host).toEqual({ ...now.host, busyShare: 0.5, ownShare: 0.1, eventLoopLagMs: 1 });
    expect(report.devices).toMatchObject([
      {
        ...now.devices[0],
        busyShare: 0.1,
        computeShare: 0.05,
        transferShare: 0.002,
        requests: 1,
        batches: 1,
        rows: 2,
        longestWaiting: 100,
        queueMs: { count: 1, max: 100 },
        processCpuShare: 0.3,
      },
    ]);
    expect(report.placements).toMatchObject([
      { ...now.placements[0]?.[1], probes: 2, errors: 1, serviceMs: { count: 1, max: 100 } },
    ]);
  });

  it("of two spans is of both together", () => {
    const report = describeHealth(mergeSpans(span(100), span(300)), now);
    expect(report).toMatchObject({ spanMs: 2_000, jobShare: 0.25, memory: { pageOuts: 2, migrationBytes: 20 } });
    expect(report.host).toMatchObject({ busyShare: 0.5, ownShare: 0.1, eventLoopLagMs: 3 });
    expect(report.devices[0]).toMatchObject({
      busyShare: 0.2,
      requests: 2,
      rows: 4,
      longestWaiting: 300,
      processCpuShare: 0.3,
    });
    expect(report.devices[0]?.queueMs).toMatchObject({ count: 2, min: 100, max: 300 });
    expect(report.placements[0]).toMatchObject({ probes: 4, errors: 2, serviceMs: { count: 2, min: 100, max: 300 } });
  });

  it("of no span is empty, not a division by nothing", () => {
    const report = describeHealth(NO_SPAN, now);
    expect(HealthReport.parse(report)).toEqual(report);
    expect(report.host).toMatchObject({ busyShare: 0, ownShare: 0 });
    expect(report.devices[0]).toMatchObject({ busyShare: 0, requests: 0, queueMs: null, processCpuShare: null });
    expect(report.placements[0]).toMatchObject({ probes: 0, errors: 0, serviceMs: null, computeMs: null });
  });

  it("says null where the system reports nothing, also of a part of the span", () => {
    const unknown = span(100, { ownCpuMs: null });
    for (const tally of [unknown, mergeSpans(span(100), unknown), mergeSpans(unknown, span(100))]) {
      expect(describeHealth(tally, now).host.ownShare).toBeNull();
    }
  });
});
