import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { CLOSE_CODES } from "../../src/protocol/link.ts";
import { LiveReport } from "../../src/protocol/fleet/health.ts";
import { ProblemError } from "../../src/protocol/wire/problem.ts";
import { VERSION } from "../../src/protocol/wire/release.ts";
import { report as healthReport } from "../edge/stack/health-samples.ts";
import type { RunnerScript } from "../edge/stack/runner-script.ts";
import { calibrationResult, capabilities } from "../edge/stack/samples.ts";
import {
  bringOnline,
  connectRunner,
  type LiveEdge,
  PING_MS,
  readModel,
  type RegisteredRunner,
  registerRunner,
  startLiveEdge,
} from "./live-edge.ts";

/** The link as the edge must keep it, whatever the runner does (docs/protocol.md). */

const PATIENT = { timeout: 60_000, interval: 5 };
let edge: LiveEdge;
let runner: RegisteredRunner;
let script: RunnerScript;

beforeAll(async () => {
  edge = await startLiveEdge();
});
afterAll(() => edge.stop());

afterEach(async () => {
  script.socket.close();
  await edge.client.call(endpoints.removeRunner, { params: { id: runner.runnerId } }).catch(() => undefined);
});

async function online(): Promise<void> {
  runner = await registerRunner(edge);
  script = await bringOnline(runner);
}

const stateOf = async () => (await edge.client.call(endpoints.getRunner, { params: { id: runner.runnerId } })).state;
const codeOf = (error: unknown) => (error instanceof ProblemError ? error.problem.code : String(error));

describe("a watched runner", () => {
  it("is asked for live reports until the caller hangs up", async () => {
    await online();
    const leaving = new AbortController();
    const response = await fetch(new URL(`/v1/runners/${runner.runnerId}/live`, edge.url), {
      headers: { authorization: `Bearer ${edge.key}` },
      signal: leaving.signal,
    });
    expect(response.status).toBe(200);
    expect((await script.next("liveRequest")).forMs).toBeGreaterThan(0);
    leaving.abort();
    // That the caller is gone shows when something is written to it.
    const report = LiveReport.parse(healthReport(0));
    const tell = () => {
      script.send({ type: "live", report });
      return script.received;
    };
    const stop = expect.objectContaining({ type: "liveRequest", forMs: 0 });
    await expect.poll(tell, PATIENT).toContainEqual(stop);
  });
});

describe("the handshake", () => {
  it("is answered with the intervals that the edge was given", async () => {
    runner = await registerRunner(edge);
    script = await connectRunner(runner);
    script.send({ type: "hello", capabilities, running: [] });
    const welcome = await script.next("welcome");
    expect(welcome).toEqual({
      type: "welcome",
      runnerId: runner.runnerId,
      version: VERSION,
      intervals: { pingMs: PING_MS, heartbeatMs: 500, leaseMs: 20_000, resendMs: 500, watchMs: 10_000 },
      placed: [],
    });
    await expect.poll(stateOf, PATIENT).toBe("online");
  });

  it("is refused without the credential", async () => {
    await online();
    await expect(connectRunner({ ...runner, credential: "mc_wrong" })).rejects.toThrow("refused");
  });
});

describe("a job", () => {
  it("is offered, reports, ends and is settled, also when its outcome comes again", async () => {
    await online();
    const { id } = await edge.client.call(endpoints.createJob, {
      body: { kind: "benchmark", kernel: "triad", runnerId: runner.runnerId },
    });
    const offer = await script.next("offer");
    expect(offer).toMatchObject({ lease: { jobId: id, epoch: 1 }, attempt: 1, spec: { kernel: "triad" } });
    script.send({ type: "jobProgress", lease: offer.lease, progress: { phase: "measure", done: 1, total: 2 } });
    script.send({ type: "heartbeat", running: [offer.lease] });
    for (let i = 0; i < 2; i++) script.succeed(offer);
    for (let i = 0; i < 2; i++)
      expect(await script.next("jobSettled")).toEqual({ type: "jobSettled", lease: offer.lease, stored: true });
    const job = await edge.client.call(endpoints.getJob, { params: { id } });
    expect(job).toMatchObject({
      state: "succeeded",
      attempt: 1,
      progress: { phase: "measure" },
      result: { kernel: "triad" },
    });
    const { items } = await edge.client.call(endpoints.listSeries, { query: { subject: "triad", metric: "wallMs" } });
    expect(items).toMatchObject([{ points: 1 }]);
  });
});

describe("an inference", () => {
  it("goes to the runner and back, is ended at its deadline, and is refused without a runner", async () => {
    await online();
    const content = await readModel("cartpole");
    const { version } = await edge.client.call(endpoints.uploadModel, {
      query: { name: "cartpole" },
      rawBody: { mediaType: "application/octet-stream", content },
    });
    const offer = await script.next("offer");
    expect(offer.model?.modelVersionId).toBe(version.id);
    script.succeed(offer, calibrationResult(version.id));
    await script.next("jobSettled");
    const input = version.inputs[0]?.name ?? "";
    const infer = (budgetMs: number) =>
      edge.client.call(endpoints.infer, {
        body: { model: "cartpole", budgetMs, inputs: { [input]: { data: [[1, 2, 3, 4]] } } },
      });

    const answered = infer(60_000);
    const asked = await script.nextInfer();
    expect([...new Float32Array(asked.payload.slice().buffer)]).toEqual([1, 2, 3, 4]);
    const output = {
      name: "y",
      dtype: "float32" as const,
      shape: [2],
      bytes: new Uint8Array(Float32Array.of(0.5, 2).buffer),
    };
    script.answer(asked.offer, [output]);
    expect(await answered).toMatchObject({
      outputs: { y: { data: [0.5, 2] } },
      placement: { runnerId: runner.runnerId },
      budgetMet: true,
    });

    // More than the answer before may have taken on a machine that stood still.
    const unanswered = infer(8_000).catch(codeOf);
    const ignored = await script.nextInfer();
    expect(await unanswered).toBe("budget-exceeded");
    expect((await script.next("inferCancel")).requestId).toBe(ignored.offer.requestId);
    // An answer that comes too late is dropped, and does no harm.
    script.answer(ignored.offer, [output]);
    // The runner is back with its answers to the edge's own questions, of which one alone may be late.
    const refusal = async () => {
      const code = await infer(0.1).catch(codeOf);
      while (script.frames.length > 0) script.answer((await script.nextInfer()).offer, [output]);
      return code;
    };
    await expect.poll(refusal, PATIENT).toBe("budget-unattainable");

    const lost = infer(60_000).catch(codeOf);
    while ((await script.nextInfer()).offer.budgetMs <= 1_000);
    script.socket.close();
    expect(await lost).toBe("runner-lost");
    await expect.poll(() => infer(60_000).catch(codeOf), PATIENT).toBe("runner-offline");
  });
});

describe("a socket", () => {
  it("that brings what is not of the protocol is closed", async () => {
    for (const garbage of ["{", '{"type":7}', new Uint8Array([1, 2, 3])]) {
      await online();
      script.socket.send(garbage);
      expect((await script.nextClose()).code).toBe(CLOSE_CODES.protocolError);
    }
  });

  it("gives way to a newer one of the same runner", async () => {
    await online();
    const old = script;
    script = await bringOnline(runner);
    expect((await old.nextClose()).code).toBe(CLOSE_CODES.replaced);
    script.send({ type: "echo", id: 5 });
    expect((await script.next("echoReply")).id).toBe(5);
    expect(await stateOf()).toBe("online");
  });

  it("of a removed runner is closed for good, with the reason", async () => {
    await online();
    await edge.client.call(endpoints.removeRunner, { params: { id: runner.runnerId } });
    expect((await script.next("refused")).problem.code).toBe("forbidden");
    expect((await script.nextClose()).code).toBe(CLOSE_CODES.removed);
    await expect(connectRunner(runner)).rejects.toThrow("refused");
  });

  it("that falls silent is closed and its runner marked offline; one that pings is not", async () => {
    await online();
    const pinging = { runner, script };
    runner = await registerRunner(edge);
    script = await connectRunner(runner);
    script.send({ type: "hello", capabilities, running: [] });
    await script.next("welcome");
    await expect.poll(() => script.closed?.code, PATIENT).toBe(CLOSE_CODES.silent);
    await expect.poll(stateOf, PATIENT).toBe("offline");
    expect(pinging.script.closed).toBeNull();
    const { state } = await edge.client.call(endpoints.getRunner, { params: { id: pinging.runner.runnerId } });
    expect(state).toBe("online");
    pinging.script.socket.close();
  });
});

describe("a body on a real connection", () => {
  it("that is refused is taken off the wire, so that the reply arrives", async () => {
    await online();
    const post = (path: string, headers: Record<string, string>, body: BodyInit) =>
      fetch(new URL(path, edge.url), {
        method: "POST",
        headers: { authorization: `Bearer ${edge.key}`, ...headers },
        body,
      });
    const large = new Uint8Array(10_000_000).fill(32);
    for (const path of ["/v1/profiles", "/v1/jobs", "/v1/infer"]) {
      const response = await post(path, { "content-type": "application/json" }, large);
      expect(response.status).toBe(413);
      expect(await response.json()).toMatchObject({ code: "payload-too-large" });
    }
    const stranger = await post("/v1/profiles", { authorization: "Bearer mk_wrong" }, large);
    expect(await stranger.json()).toMatchObject({ code: "unauthorized" });
    const nowhere = await post("/v1/nowhere", {}, large);
    expect(await nowhere.json()).toMatchObject({ code: "not-found" });
    // Without a length, as a stream, it is counted.
    const stream = new Blob([large]).stream();
    const streamed = await fetch(new URL("/v1/profiles", edge.url), {
      method: "POST",
      headers: { authorization: `Bearer ${edge.key}`, "content-type": "application/json" },
      body: stream,
      duplex: "half",
    } as RequestInit);
    expect(streamed.status).toBe(413);
    await streamed.body?.cancel();
  });
});
