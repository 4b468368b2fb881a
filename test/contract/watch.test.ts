import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { InferenceBackend } from "../../src/gpu-runner/serving/queue/inference-server.ts";
import { BenchmarkSpec } from "../../src/protocol/jobs/benchmark.ts";
import { encodeFrame } from "../../src/protocol/wire/frame.ts";
import type { HealthReport } from "../../src/protocol/fleet/health.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import type { Intervals, Offer, PlacedModel } from "../../src/protocol/link.ts";
import { ProblemError } from "../../src/protocol/wire/problem.ts";
import { DEFAULT_CONFIGURATION } from "../../src/protocol/fleet/serving.ts";
import { type LiveRunner, sensors, startLiveRunner } from "./live-runner.ts";
import { type HubConnection, ScriptedHub } from "./scripted-hub.ts";

/** A runner's health reports, whatever the hub does (docs/protocol.md). */

const BOUND = { timeout: 60_000, interval: 5 };
const WATCH_MS = 200;
const intervals: Intervals = { pingMs: 20_000, heartbeatMs: 1_000, leaseMs: 5_000, resendMs: 1_000, watchMs: WATCH_MS };
const runnerId = createId("runner");
const model: PlacedModel = {
  modelVersionId: createId("modelVersion"),
  variants: [{ name: "fp32", digest: "sha256:0" }],
  inputs: [{ name: "x", dtype: "float32", shape: [-1, 3] }],
  outputs: [{ name: "x", dtype: "float32", shape: [-1, 3] }],
  places: [{ deviceKey: "cpu", variant: "fp32" }],
};
const times = { uploadMs: 1, computeMs: 5, readbackMs: 1 };
let hub: ScriptedHub;
let runner: LiveRunner;
let connection: HubConnection;
/** The devices' answer to a request. */
let infer: InferenceBackend["infer"];

beforeEach(async () => {
  infer = async (_model, tensors) => ({ tensors: [...tensors], times });
  hub = await ScriptedHub.start();
  runner = startLiveRunner(hub.port, (...call) => infer(...call));
});
afterEach(async () => {
  await runner.stop();
  await hub.stop();
});

async function welcome(placed: PlacedModel[], changes: Partial<Intervals> = {}): Promise<void> {
  connection = await hub.nextConnection();
  await connection.next("hello");
  connection.send({ type: "welcome", runnerId, intervals: { ...intervals, ...changes }, placed });
}

/** The first report to come that is as it should be. */
function nextReport(isWanted: (report: HealthReport) => boolean = () => true): Promise<HealthReport> {
  return vi.waitFor(() => {
    const index = connection.received.findIndex(({ type }) => type === "health");
    const [message] = index < 0 ? [] : connection.received.splice(index, 1);
    if (message?.type === "health" && isWanted(message.report)) return message.report;
    throw new Error("no such report");
  }, BOUND);
}

/** A request of one row. */
function requestFrame(): Uint8Array {
  const place = { modelVersionId: model.modelVersionId, deviceKey: "cpu", variant: "fp32", backend: "ort-cpu" };
  const requestId = createId("request");
  const header = { type: "infer", requestId, ...place, budgetMs: 60_000, confidence: 0.99, priority: 0 };
  return encodeFrame(header, [{ name: "x", dtype: "float32", shape: [1, 3], bytes: new Uint8Array(12) }]);
}

const probesOf = ({ placements }: HealthReport) => placements.reduce((sum, { probes }) => sum + probes, 0);

describe("the health of a runner", () => {
  it("is sent at the interval, with the activity of its machine, devices and placements", async () => {
    await welcome([model]);
    const report = await nextReport((each) => probesOf(each) > 0);
    expect(report).toMatchObject({ sensors, jobShare: 0, memory: { pageOuts: 0, migrationBytes: 0 } });
    expect(report.host.logicalCores).toBeGreaterThan(0);
    expect(report.host.memoryBytes).toBeGreaterThan(report.host.freeBytes);
    expect(report.devices.map(({ deviceKey }) => deviceKey)).toEqual(["cpu", "gpu0"]);
    // Probes are no requests.
    expect(report.devices[0]).toMatchObject({ requests: 0, batches: 0, busyShare: 0, queueMs: null, restarts: 0 });
    const { places: _, variants: __, inputs: ___, outputs: ____, ...version } = model;
    expect(report.placements).toMatchObject([
      {
        ...version,
        variant: "fp32",
        deviceKey: "cpu",
        backend: "ort-cpu",
        configuration: DEFAULT_CONFIGURATION,
        errors: 0,
        computeMs: { min: times.computeMs, max: times.computeMs },
      },
    ]);
    expect(report.placements[0]?.serviceMs?.count).toBe(report.placements[0]?.probes);
  });

  it("covers spans without gap or overlap, each request in one of them", async () => {
    await welcome([model]);
    const first = await nextReport();
    const reports: HealthReport[] = [];
    while (reports.reduce((sum, { devices }) => sum + devices[0]!.requests, 0) < 3) {
      if (reports.length % 2 === 0) connection.sendFrame(requestFrame());
      reports.push(await nextReport());
    }
    let spansMs = 0;
    const driftsMs = [first, ...reports].map(({ at, spanMs }, index) => {
      spansMs += index === 0 ? 0 : spanMs;
      return Date.parse(at) - Date.parse(first.at) - spansMs;
    });
    const usualMs = driftsMs.toSorted((a, b) => a - b)[Math.floor(driftsMs.length / 2)]!;
    // A pause between a span's end and its date makes that one report late; a gap would move all that follow.
    expect(driftsMs.filter((driftMs) => Math.abs(driftMs - usualMs) > WATCH_MS / 4).length).toBeLessThanOrEqual(1);
    expect(connection.frames.length).toBeGreaterThanOrEqual(3);
    const served = reports.filter(({ devices }) => devices[0]!.batches > 0);
    for (const { devices } of served) {
      expect(devices[0]).toMatchObject({ errors: 0, refused: 0, queueMs: { count: devices[0]!.rows } });
    }
  });

  it("is sent at once when the hub asks, on the last span and the time since, and moves none", async () => {
    await welcome([model], { watchMs: 2_000 });
    let last = await nextReport();
    /** The report that is asked for; `last` is the regular one before it. */
    const ask = async (): Promise<HealthReport> => {
      const requestId = createId("request");
      connection.send({ type: "healthRequest", requestId });
      for (;;) {
        const message = await connection.next("health");
        if (message.requestId === requestId) return message.report;
        expect(message.requestId).toBeNull();
        last = message.report;
      }
    };
    let before: HealthReport;
    let asked: HealthReport;
    let again: HealthReport;
    do {
      asked = await ask();
      before = last;
      again = await ask();
      // On a machine that stands still, a regular report may come between the two.
    } while (last !== before);
    expect(asked.spanMs).toBeGreaterThan(before.spanMs);
    expect(probesOf(asked)).toBeGreaterThanOrEqual(probesOf(before));
    expect(again.spanMs).toBeGreaterThan(asked.spanMs);
    const second = await connection.next("health");
    expect(second.requestId).toBeNull();
    expect(second.report.spanMs).toBeGreaterThan(again.spanMs - before.spanMs);
  });

  it("is sent on the next connection, too, and never to a hub that names no interval", async () => {
    await welcome([model]);
    await nextReport();
    connection.cut();
    connection = await hub.nextConnection();
    await connection.next("hello");
    const { watchMs: _, ...older } = intervals;
    connection.send({ type: "welcome", runnerId, intervals: { ...older, heartbeatMs: 3 * WATCH_MS }, placed: [model] });
    await connection.next("heartbeat");
    await connection.next("heartbeat");
    expect(connection.received.filter(({ type }) => type === "health")).toEqual([]);
    connection.cut();
    await welcome([model]);
    await nextReport();
  });
});

describe("a runner that is watched", () => {
  const EVERY_MS = 100;
  const ask = (forMs: number) => connection.send({ type: "liveRequest", everyMs: EVERY_MS, forMs });
  const BEATS = { heartbeatMs: 5 * EVERY_MS };
  /** Two intervals without any report, some time from now on. */
  const expectSilence = () =>
    vi.waitFor(
      async () => {
        connection.received.splice(0);
        for (let beat = 0; beat < 2; beat++) await connection.next("heartbeat");
        expect(connection.received.filter(({ type }) => type === "live")).toEqual([]);
      },
      { timeout: 60_000 },
    );

  it("reports its state at the interval, whatever else it reports, until it is asked to end", async () => {
    await welcome([model], BEATS);
    await nextReport();
    ask(60_000);
    connection.sendFrame(requestFrame());
    let requests = 0;
    while (requests === 0) {
      const { report } = await connection.next("live");
      requests += report.devices[0]!.requests;
      expect(report).toMatchObject({ sensors, devices: [{ deviceKey: "cpu", waiting: 0 }, { deviceKey: "gpu0" }] });
      expect(report.devices[0]!.computing).toBeGreaterThanOrEqual(0);
      expect(report).not.toHaveProperty("placements");
    }
    expect(requests).toBe(1);
    // The request is in a report of health as well.
    await nextReport(({ devices }) => devices[0]!.requests === 1);
    ask(0);
    await expectSilence();
  });

  it("ends by itself without further requests, and begins anew on request", async () => {
    await welcome([model], BEATS);
    // A pause may use up so short a time before the first report: then it is asked for again.
    await vi.waitFor(
      () => {
        ask(3 * EVERY_MS);
        expect(connection.received).toContainEqual(expect.objectContaining({ type: "live" }));
      },
      { ...BOUND, interval: 2 * EVERY_MS },
    );
    await expectSilence();
    ask(60_000);
    await connection.next("live");
  });

  it("sends no live report on the next connection until it is asked there", async () => {
    await welcome([model], BEATS);
    ask(60_000);
    await connection.next("live");
    connection.cut();
    await welcome([model], BEATS);
    await expectSilence();
  });
});

describe("probes", () => {
  it("that fail are counted", async () => {
    infer = async () => {
      throw new ProblemError("backend-failed", "broken");
    };
    await welcome([model]);
    const { placements } = await nextReport((each) => probesOf(each) > 0);
    expect(placements).toMatchObject([{ errors: placements[0]?.probes, serviceMs: null }]);
  });

  it("are of each placement that the hub names later, too", async () => {
    await welcome([]);
    expect((await nextReport()).placements).toEqual([]);
    connection.send({ type: "configure", placed: [model] });
    await nextReport((each) => probesOf(each) > 0);
  });

  it("are not made beside a job, and one that runs is waited for", async () => {
    const computing = Promise.withResolvers<void>();
    let computed = 0;
    infer = async (_model, tensors) => {
      // The first calls warm the model and prove that its rows are independent.
      if (computed++ >= 7) await computing.promise;
      return { tensors: [...tensors], times };
    };
    await welcome([model]);
    await vi.waitFor(() => expect(computed).toBe(8), BOUND);
    const offer: Offer = {
      type: "offer",
      lease: { jobId: createId("job"), epoch: 1 },
      attempt: 1,
      spec: BenchmarkSpec.parse({ kind: "benchmark", kernel: "triad" }),
      model: null,
    };
    connection.send(offer);
    const during = await nextReport((each) => each.jobShare === 1);
    expect(runner.benchmarks).toEqual([]);
    expect(probesOf(during)).toBe(0);
    computing.resolve();
    await vi.waitFor(() => expect(runner.benchmarks).toHaveLength(1), BOUND);
    // Reports from before may wait: the one with the probe that was waited for is the last that has any.
    await nextReport((each) => probesOf(each) > 0);
    for (let count = 0; count < 3; count++) {
      expect(await nextReport()).toMatchObject({
        jobShare: 1,
        placements: [{ probes: 0, errors: 0, serviceMs: null }],
      });
    }
    expect(computed).toBe(8);
    runner.benchmarks[0]?.finish();
    const { devices } = await nextReport((each) => probesOf(each) > 0);
    expect(devices.find(({ deviceKey }) => deviceKey === "gpu0")?.kernels).toMatchObject({ kernel: "triad" });
  });
});
