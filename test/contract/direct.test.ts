import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type HeldKey, renewKeys, signTicket, toTicketKey } from "../../src/edge/link/ticket-keys.ts";
import { DirectListener } from "../../src/gpu-runner/serving/direct/direct-listener.ts";
import { TicketBook } from "../../src/gpu-runner/serving/direct/tickets.ts";
import type { InferenceBackend } from "../../src/gpu-runner/serving/queue/inference-server.ts";
import { decodeFrame, encodeFrame } from "../../src/protocol/wire/frame.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import { FRAME_MEDIA_TYPE } from "../../src/protocol/inference/inference.ts";
import type { OipStats } from "../../src/protocol/inference/oip.ts";
import { LIMITS } from "../../src/protocol/wire/limits.ts";
import type { PlacedModel } from "../../src/protocol/link.ts";
import { Problem } from "../../src/protocol/wire/problem.ts";
import type { Tensor } from "../../src/protocol/wire/tensor.ts";
import { type DirectOutcome, DirectReplyHeader, type TicketGrant } from "../../src/protocol/inference/ticket.ts";
import { type LiveRunner, startLiveRunner } from "./live-runner.ts";
import { type HubConnection, ScriptedHub } from "./scripted-hub.ts";

/** A runner's own listener as those with a ticket must find it (docs/protocol.md). */

const runnerId = createId("runner");
const model: PlacedModel = {
  modelVersionId: createId("modelVersion"),
  variants: [{ name: "fp32", digest: "sha256:0" }],
  inputs: [{ name: "x", dtype: "float32", shape: [-1, 2] }],
  outputs: [],
};
const x: Tensor = { name: "x", dtype: "float32", shape: [1, 2], bytes: new Uint8Array(Float32Array.of(1, 2).buffer) };
const times = { uploadMs: 0, computeMs: 0, readbackMs: 0 };
/** Of tickets, and so of requests that name none: no pause of the machine uses it up. */
const BUDGET_MS = 60_000;

let hub: ScriptedHub;
let runner: LiveRunner;
let connection: HubConnection;
let listener: DirectListener;
let key: HeldKey;
/** The device's answer to a request. */
let infer: InferenceBackend["infer"];

beforeEach(async () => {
  infer = async (_model, tensors) => ({ tensors: [...tensors], times });
  hub = await ScriptedHub.start();
  runner = startLiveRunner(hub.port, (...call) => infer(...call));
  const logger = { info: () => undefined, error: () => undefined };
  const address = { host: "127.0.0.1", port: 0, url: null };
  listener = await DirectListener.open(address, { runnerId, ...runner.parts, logger });
  connection = await hub.nextConnection();
  const intervals = { pingMs: 20_000, heartbeatMs: 1_000, leaseMs: 5_000, resendMs: 1_000 };
  connection.send({ type: "welcome", runnerId, intervals, placed: [model] });
  const made = renewKeys([], Date.now())?.[0];
  if (made === undefined) throw new Error("no key was made");
  key = made;
  connection.send(toTicketKey(key, Date.now()));
  await vi.waitFor(() => expect(runner.parts.keys.find(key.keyId)).not.toBeNull(), { timeout: 30_000 });
});
afterEach(async () => {
  await listener.stop();
  await runner.stop();
  await hub.stop();
});

function sign(changes: Partial<TicketGrant> = {}): Promise<string> {
  return signTicket(key, {
    runnerId,
    placementId: createId("placement"),
    modelVersionId: model.modelVersionId,
    variant: "fp32",
    deviceKey: "cpu",
    backend: "ort-cpu",
    budgetMs: BUDGET_MS,
    confidence: 0.99,
    priority: 0,
    expiresAtMs: Date.now() + LIMITS.maxTicketMs,
    nonce: createId("request"),
    ...changes,
  });
}

interface Sent {
  readonly ticket?: string | null;
  readonly header?: object;
  readonly tensors?: readonly Tensor[];
  readonly body?: BodyInit;
  readonly mediaType?: string;
  readonly encoding?: string;
  readonly signal?: AbortSignal;
}

async function post(sent: Sent = {}) {
  const {
    ticket,
    header = {},
    tensors = [x],
    body,
    mediaType = FRAME_MEDIA_TYPE,
    encoding = "identity",
    signal,
  } = sent;
  const bearer = ticket === undefined ? await sign() : ticket;
  return fetch(listener.url, {
    method: "POST",
    headers: {
      "content-type": mediaType,
      "content-encoding": encoding,
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
    },
    body: body ?? encodeFrame(header, tensors),
    signal: signal ?? null,
    duplex: "half",
  } as RequestInit);
}

/** Outcomes that the edge receives of the next requests, at least this many. */
async function nextTold(count: number): Promise<DirectOutcome[]> {
  const told: DirectOutcome[] = [];
  while (told.length < count) told.push(...(await connection.next("directOutcomes")).outcomes);
  return told;
}
const codeTold = ({ refusedFor }: DirectOutcome) => refusedFor;

async function refused(sent: Sent | Response) {
  const response = sent instanceof Response ? sent : await post(sent);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  const { status, code, errors, retryAfterMs } = Problem.parse(await response.json());
  expect(response.status).toBe(status);
  expect(response.headers.get("retry-after")).toBe(
    retryAfterMs === undefined ? null : String(Math.ceil(retryAfterMs / 1_000)),
  );
  return { code, pointers: errors?.map(({ pointer }) => pointer) ?? [] };
}

describe("a request with a ticket", () => {
  it("is answered in a frame, and reported to the edge", async () => {
    const placementId = createId("placement");
    const ticket = await sign({ placementId });
    for (const header of [{}, { budgetMs: BUDGET_MS / 2 }]) {
      const response = await post({ ticket, header });
      expect([response.status, response.headers.get("content-type")]).toEqual([200, FRAME_MEDIA_TYPE]);
      const frame = decodeFrame(new Uint8Array(await response.arrayBuffer()));
      if (!frame.ok) throw new Error(frame.message);
      const reply = DirectReplyHeader.parse(frame.header);
      expect(reply).toMatchObject({ batch: 1, budgetMs: header.budgetMs ?? BUDGET_MS, budgetMet: true });
      expect(reply.tensors).toEqual([{ name: "x", dtype: "float32", shape: [1, 2] }]);
      expect(frame.payload).toEqual(x.bytes);
      expect(reply.latency.totalMs).toBeGreaterThanOrEqual(reply.latency.queueMs + reply.latency.computeMs);
    }
    expect(await nextTold(2)).toMatchObject([1, 2].map(() => ({ placementId, rows: 1, times: { computeMs: 0 } })));
  });

  it("is reported, too, where the runner stops before the report was due", async () => {
    expect((await post()).status).toBe(200);
    await runner.stop();
    expect((await connection.next("directOutcomes")).outcomes).toMatchObject([{ rows: 1 }]);
  });

  it("is ended by its budget while the device works, and reported as one without an answer", async () => {
    const began = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    infer = async () => {
      began.resolve();
      await ended.promise;
      return { tensors: [], times };
    };
    // Less, and a machine that stands still meanwhile has it refused before the device begins.
    const late = refused({ header: { budgetMs: 8_000 } });
    await Promise.race([began.promise, late]);
    expect(await late).toEqual({ code: "budget-exceeded", pointers: [] });
    ended.resolve();
    expect(await nextTold(1)).toMatchObject([{ rows: 1, times: null, refusedFor: "budget-exceeded" }]);
  });

  it("is ended by its budget while its body is awaited", async () => {
    const ticket = await sign({ budgetMs: 1_000 });
    const headers = { authorization: `Bearer ${ticket}`, "content-type": FRAME_MEDIA_TYPE, "content-length": 1_000 };
    const status = await new Promise((resolve, reject) => {
      const outgoing = httpRequest(listener.url, { method: "POST", headers }, (reply) => {
        resolve([reply.statusCode, reply.headers.connection]);
        outgoing.destroy();
      });
      outgoing.on("error", reject).write(new Uint8Array(10));
    });
    expect(status).toEqual([504, "close"]);
  });

  it("whose caller goes away while it waits is not begun", async () => {
    const begun: string[] = [];
    const first = Promise.withResolvers<void>();
    infer = async (_model, tensors, { requestId }) => {
      begun.push(requestId);
      await first.promise;
      return { tensors: [...tensors], times };
    };
    const running = post();
    await vi.waitFor(() => expect(begun).toHaveLength(1), { timeout: 30_000 });
    const leaving = new AbortController();
    const waiting = post({ signal: leaving.signal }).catch(() => "gone");
    const { server } = runner.parts.fleet.find("cpu");
    const cancel = vi.spyOn(server, "cancel");
    const serve = vi.spyOn(server, "serve");
    await vi.waitFor(() => expect(serve).toHaveBeenCalledOnce(), { timeout: 30_000 });
    leaving.abort();
    expect(await waiting).toBe("gone");
    await vi.waitFor(() => expect(cancel).toHaveBeenCalled(), { timeout: 30_000 });
    first.resolve();
    expect((await running).status).toBe(200);
    expect((await post()).status).toBe(200);
    expect(begun).toHaveLength(2);
    expect((await nextTold(2)).map(codeTold)).toEqual([undefined, undefined]);
  });

  it("whose caller goes away before its body has come is not reported", async () => {
    const headers = { authorization: `Bearer ${await sign()}`, "content-type": FRAME_MEDIA_TYPE, "content-length": 99 };
    const outgoing = httpRequest(listener.url, { method: "POST", headers }).on("error", () => undefined);
    const use = vi.spyOn(TicketBook.prototype, "use");
    outgoing.write(new Uint8Array(10));
    await vi.waitFor(() => expect(use).toHaveBeenCalledOnce(), { timeout: 30_000 });
    outgoing.destroy();
    expect((await refused({ ticket: await sign({ deviceKey: "gpu7" }) })).code).toBe("backend-failed");
    expect((await nextTold(1)).map(codeTold)).toEqual(["backend-failed"]);
    use.mockRestore();
  });

  it("fails with the device's problem, and with a model that is not here", async () => {
    infer = async () => {
      throw new Error("unforeseen");
    };
    expect(await refused({})).toEqual({ code: "internal", pointers: [] });
    const ticket = await sign({ modelVersionId: createId("modelVersion") });
    expect(await refused({ ticket })).toEqual({ code: "no-placement", pointers: [] });
    expect(await refused({ ticket: await sign({ variant: "int8" }) })).toEqual({ code: "no-placement", pointers: [] });
    expect(await refused({ ticket: await sign({ deviceKey: "gpu7" }) })).toEqual({
      code: "backend-failed",
      pointers: [],
    });
    const codes = ["internal", "no-placement", "no-placement", "backend-failed"];
    expect((await nextTold(4)).map(codeTold)).toEqual(codes);
  });
});

describe("the Open Inference Protocol", () => {
  const named = { model: "pair", version: 3 };
  const at = (path: string) => new URL(path, listener.url);
  const bearer = async (changes: Partial<TicketGrant> = {}) => ({
    authorization: `Bearer ${await sign({ ...named, ...changes })}`,
  });
  const get = async (path: string) => {
    const response = await fetch(at(path), { headers: await bearer() });
    return { status: response.status, json: JSON.parse((await response.text()) || "null") };
  };
  const ask = async (body: unknown, more: Record<string, string> = {}) =>
    fetch(at("/v2/models/pair/infer"), {
      method: "POST",
      headers: { ...(await bearer()), ...more },
      body: body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body),
    });
  const input = { name: "x", shape: [1, 2], datatype: "FP32", data: [1, 2] };

  it("says without a ticket that the server is there, and what it can", async () => {
    for (const path of ["/v2/health/live", "/v2/health/ready"]) expect((await fetch(at(path))).status).toBe(200);
    expect(await (await fetch(at("/v2"))).json()).toMatchObject({
      name: "millrace",
      extensions: ["binary_tensor_data", "model_configuration", "statistics"],
    });
  });

  it("describes the ticket's model", async () => {
    const tensor = { name: "x", datatype: "FP32", shape: [-1, 2] };
    const metadata = { name: "pair", versions: ["3"], inputs: [tensor] };
    for (const path of ["/v2/models/pair", "/v2/models/pair/versions/3"]) {
      expect(await get(path)).toMatchObject({ status: 200, json: metadata });
      expect((await get(`${path}/ready`)).status).toBe(200);
      expect((await get(`${path}/config`)).json).toMatchObject({
        name: "pair",
        max_batch_size: LIMITS.batchRows,
        input: [{ name: "x", data_type: "TYPE_FP32", dims: [2] }],
        instance_group: [{ kind: "KIND_CPU", count: 1 }],
      });
    }
  });

  it("refuses unread what waited for a busy loop for more than half of its budget, once", async () => {
    // Time that passes in that work alone: a pause of the machine counts for none.
    let nowMs = performance.now();
    using clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
    const placementId = createId("placement");
    const { authorization } = await bearer({ placementId });
    /** Sends a request in one piece, which the listener reads in one turn of its loop. */
    const write = (socket: Socket, budgetMs: number) => {
      const body = JSON.stringify({ inputs: [input], parameters: { budget_ms: budgetMs } });
      socket.write(
        `POST /v2/models/pair/infer HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n` +
          `content-length: ${body.length}\r\n\r\n${body}`,
      );
    };
    const open = async () => {
      const socket = connect(Number(at("/").port), "127.0.0.1");
      await once(socket, "connect");
      return socket;
    };
    const [first, second] = [await open(), await open()];
    const held = Promise.withResolvers<void>();
    infer = async (_model, tensors) => {
      // Another request comes, and the thread sees it after 120 ms of other work.
      write(second, 230);
      nowMs += 120;
      await held.promise;
      return { tensors: [...tensors], times };
    };
    const replyTo = async (socket: Socket) => String(((await once(socket, "data")) as [Buffer])[0]);
    write(first, BUDGET_MS);
    expect(await replyTo(second)).toMatch(/^HTTP\/1\.1 503 [^]*more than half of its budget/);
    expect(await nextTold(1)).toMatchObject([{ placementId, refusedFor: "overloaded" }]);
    held.resolve();
    expect(await replyTo(first)).toMatch(/^HTTP\/1\.1 200 /);
    expect(clock).toHaveBeenCalled();
    for (const socket of [first, second]) socket.destroy();
  });

  it("answers in JSON and in raw bytes, packed too, and counts each at once", async () => {
    const path = "/v2/models/pair/stats";
    const placementId = createId("placement");
    const headers = await bearer({ placementId });
    const send = (body: BodyInit, more: Record<string, string> = {}) =>
      fetch(at("/v2/models/pair/infer"), { method: "POST", headers: { ...headers, ...more }, body });
    const stats = async () => ((await (await fetch(at(path), { headers })).json()) as OipStats).model_stats;
    const json = await send(JSON.stringify({ id: "7", inputs: [input] }));
    expect(await json.json()).toMatchObject({ model_name: "pair", model_version: "3", id: "7", outputs: [input] });
    expect(await stats()).toMatchObject([{ name: "pair", version: "3", inference_count: 1, execution_count: 1 }]);
    const text = JSON.stringify({
      inputs: [{ ...input, shape: [2, 2], data: undefined, parameters: { binary_data_size: 16 } }],
      parameters: { binary_data_output: true },
    });
    const raw = Buffer.concat([Buffer.from(text), x.bytes, x.bytes]);
    const packed = { "content-encoding": "gzip", "accept-encoding": "identity" };
    const binary = await send(gzipSync(raw), { ...packed, "inference-header-content-length": String(text.length) });
    const length = Number(binary.headers.get("inference-header-content-length"));
    const bytes = new Uint8Array(await binary.arrayBuffer());
    expect(bytes.slice(length)).toEqual(new Uint8Array([...x.bytes, ...x.bytes]));
    const count = 2;
    expect(await stats()).toMatchObject([
      {
        inference_count: 3,
        execution_count: count,
        inference_stats: { success: { count }, fail: { count: 0 }, queue: { count }, compute_infer: { count } },
      },
    ]);
    expect(await nextTold(2)).toMatchObject([
      { placementId, rows: 1, ownRows: 1 },
      { placementId, rows: 2, ownRows: 2 },
    ]);
  });

  it("refuses in the protocol's shape: other models, mistakes, absent extensions, wrong methods, no ticket", async () => {
    const unknown = "Request for unknown model: 'nobody' is not found";
    expect(await get("/v2/models/nobody")).toEqual({ status: 400, json: { error: unknown } });
    expect((await get("/v2/models/pair/versions/4")).status).toBe(400);
    for (const [body, text] of [
      [{ inputs: [{ ...input, name: "y" }] }, "is not an input"],
      [{ inputs: [input], outputs: [{ name: "z" }] }, "unexpected inference output 'z'"],
      [{ inputs: [input], parameters: { budget_ms: BUDGET_MS + 1 } }, "the ticket's"],
      ["{", "#"],
    ] as const) {
      const response = await ask(body);
      expect([response.status, response.headers.get("content-type")]).toEqual([400, "application/json"]);
      expect(await response.json()).toEqual({ error: expect.stringContaining(text) });
    }
    expect(await get("/v2/systemsharedmemory/status")).toMatchObject({ status: 501 });
    expect(await get("/v2/trace/setting")).toEqual({
      status: 503,
      json: { error: "the server does not support tracing" },
    });
    const wrong = await fetch(at("/v2/models/pair/infer"));
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
    expect((await fetch(at("/v2/models/pair"))).status).toBe(401);
    expect((await get("/v2/elsewhere")).status).toBe(400);
  });

  it("counts requests of a ticket by what it says", async () => {
    const headers = await bearer({ requests: 2 });
    const statuses = [];
    for (const _ of [1, 2, 3]) statuses.push((await fetch(at("/v2/models/pair/ready"), { headers })).status);
    expect(statuses).toEqual([200, 200, 401]);
  });
});

describe("a request is refused", () => {
  const authorization = ["header/authorization"];

  it("without a good ticket, before its body is read", async () => {
    expect(await refused({ ticket: null })).toEqual({ code: "unauthorized", pointers: authorization });
    const challenge = 'Bearer realm="millrace"';
    expect((await post({ ticket: null })).headers.get("www-authenticate")).toBe(challenge);
    expect((await post({ ticket: "mx_1" })).headers.get("www-authenticate")).toBe(
      `${challenge}, error="invalid_token"`,
    );
    expect(await refused({ ticket: "mx_1" })).toEqual({ code: "unauthorized", pointers: authorization });
    const other = await sign({ runnerId: createId("runner") });
    expect(await refused({ ticket: other })).toEqual({ code: "unauthorized", pointers: authorization });
    // The runner's time may be behind by as long as its key was on its way.
    const old = await sign({ expiresAtMs: Date.now() - 60_000 });
    expect(await refused({ ticket: old, body: new Uint8Array(9_000_000) })).toEqual({
      code: "ticket-expired",
      pointers: authorization,
    });
  });

  it("elsewhere and by other methods", async () => {
    const elsewhere = await fetch(new URL("/v1/models", listener.url));
    expect(await refused(elsewhere)).toEqual({ code: "not-found", pointers: [] });
    const get = await fetch(listener.url);
    expect(get.headers.get("allow")).toBe("POST");
    expect(await refused(get)).toEqual({ code: "method-not-allowed", pointers: [] });
  });

  it("with a body that is no frame, is too large, or says what it must not", async () => {
    const pointersOf = async (sent: Sent) => (await refused(sent)).pointers;
    expect(await refused({ mediaType: "application/json" })).toEqual({
      code: "unsupported-media-type",
      pointers: ["header/content-type"],
    });
    const large = new Uint8Array(LIMITS.inferBodyBytes + 1);
    for (const body of [large, new Blob([large]).stream()]) {
      expect(await refused({ body })).toEqual({ code: "payload-too-large", pointers: ["#"] });
    }
    const packed = (body: BodyInit, encoding: string) => post({ body, encoding });
    expect((await packed(gzipSync(encodeFrame({}, [x])), "gzip")).status).toBe(200);
    expect((await nextTold(1)).map(codeTold)).toEqual([undefined]);
    expect(await refused(await packed(gzipSync(large), "gzip"))).toEqual({
      code: "payload-too-large",
      pointers: ["#"],
    });
    expect(await refused(await packed("no", "deflate"))).toEqual({ code: "invalid-request", pointers: ["#"] });
    const other = await packed("no", "br");
    expect(other.headers.get("accept-encoding")).toBe("gzip, deflate, identity");
    expect(await refused(other)).toEqual({
      code: "unsupported-media-type",
      pointers: ["header/content-encoding"],
    });
    expect(await refused({ body: new Uint8Array([1, 2]) })).toEqual({ code: "invalid-request", pointers: ["#"] });
    expect(await pointersOf({ header: { budgetMs: BUDGET_MS + 1 } })).toEqual(["#/budgetMs"]);
    expect(await pointersOf({ header: { budgetMs: 0 } })).toEqual(["#/budgetMs"]);
    expect(await pointersOf({ header: { model: "other" } })).toEqual(["#/model"]);
    expect(await pointersOf({ tensors: [] })).toEqual(["#/tensors"]);
    expect(await pointersOf({ tensors: [{ ...x, name: "y" }] })).toEqual(["#/tensors", "#/tensors/0"]);
    expect(await pointersOf({ tensors: [{ ...x, shape: [2, 1] }] })).toEqual(["#/tensors/0"]);
    expect(await pointersOf({ body: encodeFrame({}, [x]).slice(0, -1) })).toEqual(["#/tensors"]);
    expect((await post()).status).toBe(200);
    // Nothing of these was one to answer.
    expect((await nextTold(1)).map(codeTold)).toEqual([undefined]);
  });

  it("beyond the requests that may be in flight", async () => {
    const ended = Promise.withResolvers<void>();
    infer = async (_model, tensors) => {
      await ended.promise;
      return { tensors: [...tensors], times };
    };
    const { server } = runner.parts.fleet.find("cpu");
    const serve = vi.spyOn(server, "serve");
    const ticket = await sign();
    // One project alone may have seven eighths.
    const most = (LIMITS.directInFlight * 7) / 8;
    const served = Array.from({ length: most }, () => post({ ticket }));
    await vi.waitFor(() => expect(serve).toHaveBeenCalledTimes(most), { timeout: 30_000 });
    expect((await refused({ ticket })).code).toBe("overloaded");
    ended.resolve();
    expect(new Set((await Promise.all(served)).map(({ status }) => status))).toEqual(new Set([200]));
    const told = (await nextTold(most + 1)).map(codeTold);
    expect(told.filter((code) => code !== undefined)).toEqual(["overloaded"]);
  });

  it("beyond the connections that may be open, by closing the one more", async () => {
    const { hostname, port } = new URL(listener.url);
    const open = async () => {
      const socket = connect(Number(port), hostname);
      await once(socket, "connect");
      return socket;
    };
    const sockets = await Promise.all(Array.from({ length: LIMITS.directConnections }, open));
    await once(await open(), "close");
    expect(sockets.filter(({ destroyed, readableEnded }) => destroyed || readableEnded)).toEqual([]);
    sockets.pop()?.destroy();
    await vi.waitFor(async () => expect((await post()).status).toBe(200), { timeout: 30_000 });
    for (const socket of sockets) socket.destroy();
  });

  it("with a head that is too long", async () => {
    const response = await fetch(listener.url, { headers: { "x-long": "a".repeat(LIMITS.directHeadBytes) } });
    expect(response.status).toBe(431);
    await response.body?.cancel();
  });
});
