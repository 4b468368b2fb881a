import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { encodeFrame } from "../../src/protocol/wire/frame.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import { BenchmarkSpec } from "../../src/protocol/jobs/benchmark.ts";
import {
  CLOSE_CODES,
  type Intervals,
  LINK_SUBPROTOCOL,
  type Offer,
  type PlacedModel,
} from "../../src/protocol/link.ts";
import type { InferenceBackend } from "../../src/gpu-runner/serving/queue/inference-server.ts";
import { createProblem } from "../../src/protocol/wire/problem.ts";
import { DEFAULT_CONFIGURATION, type ServingConfiguration } from "../../src/protocol/fleet/serving.ts";
import { RunSamples } from "../../src/protocol/history/run.ts";
import { capabilities, memoryReport } from "../edge/stack/samples.ts";
import { type LiveRunner, startLiveRunner } from "./live-runner.ts";
import { type HubConnection, ScriptedHub } from "./scripted-hub.ts";

/** The link as the runner must keep it, whatever the hub does (docs/protocol.md). */

/** A hub on a busy machine is not taken for silent. */
const intervals: Intervals = { pingMs: 5_000, heartbeatMs: 60, leaseMs: 5_000, resendMs: 50 };
const runnerId = createId("runner");
const model: PlacedModel = {
  modelVersionId: createId("modelVersion"),
  variants: [{ name: "fp32", digest: "sha256:0" }],
  inputs: [],
  outputs: [],
};
/** Requests to a model without inputs and outputs when it is loaded. */
const PROOFS = 5;
let hub: ScriptedHub;
let runner: LiveRunner;
/** The devices' answer to a request. */
let infer: InferenceBackend["infer"];

beforeEach(async () => {
  infer = async (_model, tensors) => ({
    tensors: [...tensors],
    times: { uploadMs: 0, computeMs: 0, readbackMs: 0 },
  });
  hub = await ScriptedHub.start();
  runner = startLiveRunner(hub.port, (...call) => infer(...call));
});
afterEach(async () => {
  await runner.stop();
  await hub.stop();
});

async function welcome(connection: HubConnection, placed: PlacedModel[] = [], pingMs = intervals.pingMs) {
  const hello = await connection.next("hello");
  connection.send({ type: "welcome", runnerId, intervals: { ...intervals, pingMs }, placed });
  return hello;
}

async function nextWelcomed(placed: PlacedModel[] = []): Promise<HubConnection> {
  const connection = await hub.nextConnection();
  await welcome(connection, placed);
  return connection;
}

const offer = (): Offer => ({
  type: "offer",
  lease: { jobId: createId("job"), epoch: 1 },
  attempt: 1,
  spec: BenchmarkSpec.parse({ kind: "benchmark", kernel: "triad" }),
  model: null,
});
const begun = (count = 1) => vi.waitFor(() => expect(runner.benchmarks).toHaveLength(count), { timeout: 30_000 });

it("stops at once where the edge leaves the handshake without an answer", async () => {
  // Nothing but the stop ends the attempt: its time limit never comes.
  using limit = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => new AbortController().signal);
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const knocked = once(silent, "connection");
  const waiting = startLiveRunner((silent.address() as AddressInfo).port, (...call) => infer(...call));
  await knocked;
  expect(limit).toHaveBeenCalled();
  await waiting.stop();
  (await knocked)[0].destroy();
  silent.close();
});

describe("what the runner can do", () => {
  it("is sent when it changes, and by the next hello where there was no connection", async () => {
    const connection = await nextWelcomed();
    runner.changeSlots(3);
    expect(await connection.next("capabilities")).toEqual({
      type: "capabilities",
      capabilities: { ...capabilities, jobSlots: 3 },
    });
    connection.cut();
    runner.changeSlots(2);
    expect(await welcome(await hub.nextConnection())).toMatchObject({ capabilities: { jobSlots: 2 } });
  });
});

describe("the handshake", () => {
  it("shows the credential and the protocol, then says hello with what the machine is", async () => {
    const connection = await hub.nextConnection();
    expect(connection.headers.authorization).toBe("Bearer mc_sample");
    expect(connection.headers["sec-websocket-protocol"]).toBe(LINK_SUBPROTOCOL);
    expect(await welcome(connection, [model])).toEqual({ type: "hello", capabilities, running: [] });
    await vi.waitFor(() => expect(runner.warmed).toEqual([`cpu ${model.modelVersionId}/fp32`]), { timeout: 30_000 });
  });

  it("has every variant loaded where it is placed, whatever else cannot be", async () => {
    const { modelVersionId, variants } = model;
    const int8 = { name: "int8", digest: "sha256:1" };
    const places = [
      { deviceKey: "gone", variant: "fp32" },
      { deviceKey: "gpu0", variant: "int8" },
      { deviceKey: "cpu", variant: "fp32" },
    ];
    await nextWelcomed([{ ...model, variants: [...variants, int8], places }]);
    const wanted = [`cpu ${modelVersionId}/fp32`, `gpu0 ${modelVersionId}/int8`];
    await vi.waitFor(() => expect(runner.warmed.toSorted()).toEqual(wanted), { timeout: 30_000 });
  });
});

describe("the memory", () => {
  it("is sent when the hub asks, under the id of the question", async () => {
    const connection = await nextWelcomed();
    const requestId = createId("request");
    connection.send({ type: "memoryRequest", requestId });
    expect(await connection.next("memoryReport")).toEqual({ type: "memoryReport", requestId, report: memoryReport });
  });
});

describe("a lease", () => {
  it("is named by every heartbeat until its outcome is settled", async () => {
    const connection = await nextWelcomed();
    expect((await connection.next("heartbeat")).running).toEqual([]);
    const given = offer();
    connection.send(given);
    connection.send(given);
    await begun();
    await vi.waitFor(async () => expect((await connection.next("heartbeat")).running).toEqual([given.lease]), {
      timeout: 30_000,
    });
    runner.benchmarks[0]?.finish();
    const first = await connection.next("jobOutcome");
    expect(first).toMatchObject({ lease: given.lease, outcome: { ok: true, deviceKey: "gpu0" } });
    const { samples = "" } = first.outcome as { samples?: string };
    expect(RunSamples.parse(JSON.parse(samples)).measurements).toMatchObject([{ metric: "wallMs", values: [1, 2, 3] }]);
    expect(await connection.next("jobOutcome")).toEqual(first);
    connection.send({ type: "jobSettled", lease: given.lease, stored: true });
    await vi.waitFor(async () => expect((await connection.next("heartbeat")).running).toEqual([]), { timeout: 30_000 });
    expect(runner.benchmarks).toHaveLength(1);
  });

  it("outlives the connection: named in the next hello, its outcome sent again there", async () => {
    const first = await nextWelcomed();
    const given = offer();
    first.send(given);
    await begun();
    first.cut();
    const second = await hub.nextConnection();
    expect((await welcome(second)).running).toEqual([given.lease]);
    runner.benchmarks[0]?.finish();
    const outcome = await second.next("jobOutcome");
    second.cut();
    const third = await hub.nextConnection();
    expect((await welcome(third)).running).toEqual([given.lease]);
    expect(await third.next("jobOutcome")).toEqual(outcome);
    third.send({ type: "jobSettled", lease: given.lease, stored: false });
    third.cut();
    const fourth = await hub.nextConnection();
    expect((await welcome(fourth)).running).toEqual([]);
  });

  it("that the hub takes back is worked on no more", async () => {
    const connection = await nextWelcomed();
    const given = offer();
    connection.send(given);
    await begun();
    connection.send({ type: "jobCancel", lease: given.lease });
    await vi.waitFor(() => expect(runner.benchmarks[0]?.signal.aborted).toBe(true), { timeout: 30_000 });
    await vi.waitFor(async () => expect((await connection.next("heartbeat")).running).toEqual([]), { timeout: 30_000 });
  });

  it("is given back when the runner is stopped", async () => {
    const connection = await nextWelcomed();
    const given = offer();
    connection.send(given);
    await begun();
    await runner.stop();
    expect(await connection.next("jobOutcome")).toMatchObject({
      lease: given.lease,
      outcome: { ok: false, problem: { code: "runner-lost" } },
    });
    await expect(runner.done).resolves.toBeUndefined();
  });
});

describe("a runner that is asked to stop", () => {
  /** Longer than any test: a test that ends earlier has not waited for it. */
  const AMPLE_MS = 60_000;

  it("says so, finishes its job, and goes once the outcome is settled", async () => {
    const connection = await nextWelcomed();
    const given = offer();
    connection.send(given);
    await begun();
    const gone = runner.leave(AMPLE_MS);
    await connection.next("leaving");
    runner.benchmarks[0]?.finish();
    expect(await connection.next("jobOutcome")).toMatchObject({ lease: given.lease, outcome: { ok: true } });
    // Not settled yet: it is sent again, and not lost.
    await connection.next("jobOutcome");
    connection.send({ type: "jobSettled", lease: given.lease, stored: true });
    await gone;
    await expect(runner.done).resolves.toBeUndefined();
  });

  it("gives back what it has not finished when its time is over", async () => {
    const connection = await nextWelcomed();
    const given = offer();
    connection.send(given);
    await begun();
    await runner.leave(1);
    expect(await connection.next("jobOutcome")).toMatchObject({
      lease: given.lease,
      outcome: { ok: false, problem: { code: "runner-lost" } },
    });
    expect(runner.benchmarks[0]?.signal.aborted).toBe(true);
  });

  it("begins nothing new, and says again that it leaves where its connection broke meanwhile", async () => {
    const first = await nextWelcomed();
    const given = offer();
    first.send(given);
    await begun();
    const gone = runner.leave(AMPLE_MS);
    await first.next("leaving");
    first.cut();
    const second = await nextWelcomed();
    await second.next("leaving");
    const late = offer();
    second.send(late);
    // First, so that the job is not offered here again.
    await second.next("leaving");
    expect(await second.next("jobOutcome")).toMatchObject({
      lease: late.lease,
      outcome: { ok: false, problem: { code: "runner-lost" } },
    });
    expect(runner.benchmarks).toHaveLength(1);
    runner.benchmarks[0]?.finish();
    expect(await second.next("jobOutcome")).toMatchObject({ lease: given.lease, outcome: { ok: true } });
    second.send({ type: "jobSettled", lease: given.lease, stored: true });
    await gone;
  });
});

describe("a runner for one job", () => {
  beforeEach(async () => {
    await runner.stop();
    await hub.stop();
    hub = await ScriptedHub.start();
    runner = startLiveRunner(hub.port, (...call) => infer(...call), { onlyOneJob: true });
  });
  const nextHello = async () => {
    const connection = await hub.nextConnection();
    return { connection, hello: await welcome(connection) };
  };

  it("says so, takes it, declines another one, and goes once it is settled", async () => {
    const { connection, hello } = await nextHello();
    expect(hello.jobsLeft).toBe(1);
    const [given, late] = [offer(), offer()];
    connection.send(given);
    connection.send(given);
    connection.send(late);
    await connection.next("leaving");
    expect(await connection.next("jobOutcome")).toMatchObject({
      lease: late.lease,
      outcome: { ok: false, problem: { code: "runner-lost" }, declined: true },
    });
    await begun();
    connection.cut();
    const again = await nextHello();
    expect(again.hello).toMatchObject({ jobsLeft: 0, running: [given.lease] });
    runner.benchmarks[0]?.finish();
    expect(await again.connection.next("jobOutcome")).toMatchObject({ lease: given.lease, outcome: { ok: true } });
    again.connection.send({ type: "jobSettled", lease: given.lease, stored: true });
    await expect(runner.done).resolves.toBeUndefined();
    expect(runner.benchmarks).toHaveLength(1);
  });

  it("goes as well where it does not know the job", async () => {
    const { connection } = await nextHello();
    const unknown = { ...offer(), spec: { kind: "of-tomorrow" } };
    connection.sendText(JSON.stringify(unknown));
    expect(await connection.next("jobOutcome")).toMatchObject({
      lease: unknown.lease,
      outcome: { problem: { code: "upgrade-required" } },
    });
    await expect(runner.done).resolves.toBeUndefined();
  });
});

describe("an inference", () => {
  const tensor = { name: "x", dtype: "float32" as const, shape: [1], bytes: new Uint8Array(4) };
  const request = (deviceKey: string, modelVersionId = model.modelVersionId) => {
    const requestId = createId("request");
    const place = { deviceKey, variant: "fp32", backend: "ort-cpu" };
    const header = {
      type: "infer",
      requestId,
      modelVersionId,
      ...place,
      budgetMs: 60_000,
      confidence: 0.99,
      priority: 0,
    };
    return { requestId, frame: encodeFrame(header, [tensor]) };
  };

  it("is answered by a frame, or by the problem that it met", async () => {
    const connection = await nextWelcomed([model]);
    const good = request("cpu");
    connection.sendFrame(good.frame);
    await vi.waitFor(
      () =>
        expect(connection.frames).toMatchObject([
          { type: "inferResult", requestId: good.requestId, tensors: [{ name: "x" }] },
        ]),
      { timeout: 30_000 },
    );
    for (const [bad, code] of [
      [request("gpu9"), "backend-failed"],
      [request("cpu", createId("modelVersion")), "no-placement"],
    ] as const) {
      connection.sendFrame(bad.frame);
      expect(await connection.next("inferFailed")).toMatchObject({ requestId: bad.requestId, problem: { code } });
    }
  });

  it("is served under the configuration of its place, and under another one once the hub says so", async () => {
    const placedUnder = (configuration: ServingConfiguration): PlacedModel => ({
      ...model,
      places: [{ deviceKey: "cpu", variant: "fp32", configuration }],
    });
    const key = `cpu ${model.modelVersionId}/fp32`;
    const connection = await nextWelcomed([placedUnder({ ...DEFAULT_CONFIGURATION, threads: 2 })]);
    const asked: string[] = [];
    const held = Promise.withResolvers<void>();
    infer = async (modelKey, tensors) => {
      asked.push(modelKey);
      if (asked.length > PROOFS + 1) await held.promise;
      return { tensors: [...tensors], times: { uploadMs: 0, computeMs: 0, readbackMs: 0 } };
    };
    connection.sendFrame(request("cpu").frame);
    await vi.waitFor(() => expect(connection.frames).toMatchObject([{ type: "inferResult" }]), { timeout: 30_000 });
    expect(runner.warmed).toEqual([`${key}/threads-2`]);
    expect(new Set(asked)).toEqual(new Set([`${model.modelVersionId}/fp32/threads-2`]));

    asked.length = 0;
    connection.send({ type: "configure", placed: [placedUnder({ ...DEFAULT_CONFIGURATION, maxInFlight: 1 })] });
    await vi.waitFor(() => expect(runner.freed).toEqual([`${key}/threads-2`]), { timeout: 30_000 });
    connection.sendFrame(request("cpu").frame);
    await vi.waitFor(() => expect(asked.length).toBe(PROOFS + 1), { timeout: 30_000 });
    await vi.waitFor(() => expect(connection.frames).toHaveLength(2), { timeout: 30_000 });
    connection.sendFrame(request("cpu").frame);
    const refused = request("cpu");
    connection.sendFrame(refused.frame);
    expect(await connection.next("inferFailed")).toMatchObject({
      requestId: refused.requestId,
      problem: { code: "overloaded", detail: expect.stringContaining("in flight") },
    });
    held.resolve();
    await vi.waitFor(() => expect(connection.frames).toHaveLength(3), { timeout: 30_000 });
    expect(new Set(asked)).toEqual(new Set([`${model.modelVersionId}/fp32`]));
  });

  it("that the hub cancels while it waits is not begun", async () => {
    const connection = await nextWelcomed([model]);
    connection.sendFrame(request("cpu").frame);
    await vi.waitFor(() => expect(connection.frames).toHaveLength(1), { timeout: 30_000 });
    const computed: string[] = [];
    const ended = Promise.withResolvers<void>();
    const answer = infer;
    infer = async (...call) => {
      computed.push(call[2].requestId);
      await ended.promise;
      return answer(...call);
    };
    const [running, waiting] = [request("cpu"), request("cpu")];
    connection.sendFrame(running.frame);
    connection.sendFrame(waiting.frame);
    connection.send({ type: "inferCancel", requestId: waiting.requestId });
    expect(await connection.next("inferFailed")).toMatchObject({ requestId: waiting.requestId });
    ended.resolve();
    await vi.waitFor(() => expect(connection.frames).toHaveLength(2), { timeout: 30_000 });
    expect(computed).toEqual([running.requestId]);
  });

  it("that a runner has is answered before it goes, and no other begun", async () => {
    const connection = await nextWelcomed([model]);
    connection.sendFrame(request("cpu").frame);
    await vi.waitFor(() => expect(connection.frames).toHaveLength(1), { timeout: 30_000 });
    const begins = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const answer = infer;
    infer = async (...call) => {
      begins.resolve();
      await ended.promise;
      return answer(...call);
    };
    connection.sendFrame(request("cpu").frame);
    await begins.promise;
    const gone = runner.leave(60_000);
    await connection.next("leaving");
    const late = request("cpu");
    connection.sendFrame(late.frame);
    expect(await connection.next("inferFailed")).toMatchObject({
      requestId: late.requestId,
      problem: { code: "no-placement" },
    });
    ended.resolve();
    await gone;
    await vi.waitFor(() => expect(connection.frames).toHaveLength(2), { timeout: 30_000 });
  });

  it("of nonsense does not end the connection", async () => {
    const connection = await nextWelcomed();
    connection.sendFrame(new Uint8Array([1, 2, 3]));
    connection.sendText("nonsense");
    connection.sendText('{"type":"unknown"}');
    await connection.next("heartbeat");
    await connection.next("heartbeat");
    expect(hub.connections).toHaveLength(1);
  });
});

describe("a connection", () => {
  it("that is refused for a while is tried again, each time later", async () => {
    const first = await nextWelcomed();
    hub.refuseWith = 503;
    const before = hub.knocks.length;
    first.cut();
    await vi.waitFor(() => expect(hub.knocks.length).toBeGreaterThanOrEqual(before + 4), { timeout: 60_000 });
    hub.refuseWith = null;
    await nextWelcomed();
    const waits = hub.knocks.slice(before).map((at, index, all) => at - (all[index - 1] ?? at));
    // Doubled and jittered between one and two times: the fourth wait is above any first one.
    expect(waits[3]).toBeGreaterThan(100);
  });

  it("that is refused as not of the protocol each time is tried ever less often", async () => {
    for (let count = 0; count < 4; count++) (await hub.nextConnection()).close(CLOSE_CODES.protocolError);
    await hub.nextConnection();
    const waits = hub.knocks.map((at, index, all) => at - (all[index - 1] ?? at));
    // Doubled and jittered between one and two times: the fourth wait is above any first one.
    expect(waits[4]).toBeGreaterThan(400);
  });

  it("is found again when the hub comes back on its port", async () => {
    await nextWelcomed();
    const { port } = hub;
    await hub.stop();
    await new Promise((resolve) => setImmediate(resolve));
    hub = await ScriptedHub.start(port);
    await nextWelcomed();
    expect(hub.connections).toHaveLength(1);
  });

  it("on which the hub fell silent is given up, and another one made", async () => {
    const first = await hub.nextConnection();
    await welcome(first, [], 200);
    await vi.waitFor(() => expect(first.pings).toBeGreaterThan(1), { timeout: 30_000 });
    first.alive = false;
    await nextWelcomed();
  });

  it("is not made again by a runner that was removed, replaced or is unknown", async () => {
    const connection = await nextWelcomed();
    connection.send({ type: "refused", problem: createProblem("forbidden", "This runner was removed.") });
    connection.close(CLOSE_CODES.removed);
    await expect(runner.done).rejects.toThrow("removed");
    for (const prepare of [
      (taken: HubConnection) => taken.close(CLOSE_CODES.replaced),
      (taken: HubConnection) => {
        hub.refuseWith = 401;
        taken.cut();
      },
    ]) {
      runner = startLiveRunner(hub.port, infer);
      prepare(await nextWelcomed());
      await expect(runner.done).rejects.toThrow(/credential/);
    }
  });
});
