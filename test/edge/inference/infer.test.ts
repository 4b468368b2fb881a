import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { openDatabase } from "../../../src/edge/store/database.ts";
import { deletePlacements } from "../../../src/edge/store/fleet/placement-store.ts";
import { decodeFrame, encodeFrame } from "../../../src/protocol/wire/frame.ts";
import type { InferOffer } from "../../../src/protocol/link.ts";
import { FRAME_MEDIA_TYPE, InferReply, InferReplyHeader } from "../../../src/protocol/inference/inference.ts";
import { packBody, unpackBody } from "../../../src/protocol/wire/content-encoding.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import { typedView, type Tensor } from "../../../src/protocol/wire/tensor.ts";
import {
  callEdge,
  fetchEdge,
  pointersOf,
  problemOf,
  type RegisteredRunner,
  registerRunner,
} from "../stack/edge-client.ts";
import { calibrationResult } from "../stack/samples.ts";
import { BOUND } from "../stack/runner-script.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { stopClock } from "../stack/stopped-clock.ts";
import { cartpole } from "../stack/zoo.ts";

let runner: RegisteredRunner;
let scripted: ScriptedRunner;
let input = "";
let output = "";

const tensor = (name: string, values: number[]): Tensor => ({
  name,
  dtype: "float32",
  shape: [1, values.length],
  bytes: new Uint8Array(Float32Array.from(values).buffer),
});
const request = (changes: object = {}) => ({
  model: "cartpole",
  budgetMs: 60_000,
  inputs: { [input]: { data: [[1, 2, 3, 4]] } },
  ...changes,
});
const JSON_TYPE = { "content-type": "application/json" };
const infer = (changes: object = {}) => callEdge("POST", "/v1/infer", { body: request(changes) });

const nextOffer = async () => (await scripted.nextInfer()).offer;
const answer = (offer: InferOffer, values: number[]) => scripted.answer(offer, [tensor(output, values)]);
/** Answers the edge's own probes until only the budget can refuse: an answer may come too late for one of them. */
const isReady = () =>
  vi.waitFor(async () => {
    while (scripted.frames.length > 0) answer(await nextOffer(), [1, 2]);
    expect(problemOf(await infer({ budgetMs: 0.1 })).code).toBe("budget-unattainable");
  }, BOUND);

beforeAll(async () => {
  runner = await registerRunner();
  scripted = await ScriptedRunner.online(runner);
  const uploaded = await callEdge("POST", "/v1/models?name=cartpole", {
    body: cartpole,
    headers: { "content-type": "application/octet-stream" },
  });
  input = uploaded.json.version.inputs[0].name;
  output = uploaded.json.version.outputs[0].name;
  const offer = await scripted.next("offer");
  expect(offer).toMatchObject({ spec: { kind: "calibration" }, model: { modelVersionId: uploaded.json.version.id } });
  // The isolate may still know the model of this name that the file before this one had.
  await vi.waitFor(async () => expect(problemOf(await infer()).code).toBe("no-placement"), BOUND);
  scripted.succeed(offer, calibrationResult(uploaded.json.version.id));
  expect((await scripted.next("jobSettled")).stored).toBe(true);
  // Admission may use what it read a moment ago.
  await isReady();
});

afterEach(() => vi.restoreAllMocks());

describe("an inference", () => {
  it("is answered with outputs, placement, prediction and split", async () => {
    const pending = infer();
    const offer = await nextOffer();
    expect(offer).toMatchObject({ deviceKey: "cpu", backend: "ort-cpu", tensors: [{ name: input, shape: [1, 4] }] });
    answer(offer, [0.25, 0.75]);
    const reply = await pending;
    const parsed = InferReply.parse(reply.json);
    expect(parsed.outputs[output]?.data).toEqual([0.25, 0.75]);
    expect(parsed).toMatchObject({
      model: "cartpole",
      version: 1,
      budgetMet: true,
      placement: { runnerId: runner.runnerId, batch: 1 },
    });
    expect(parsed.prediction.latencyMs).toBeGreaterThan(0.9);
    expect(reply.headers.get("server-timing")).toMatch(/total;dur=.*compute;dur=0\.200/);
  });

  it("with long outputs as JSON has all of them", async () => {
    const values = Float32Array.from({ length: 40_000 }, (_, at) => at / 3);
    const pending = infer();
    const long = { name: output, dtype: "float32" as const, shape: [20_000, 2], bytes: new Uint8Array(values.buffer) };
    scripted.answer(await nextOffer(), [long]);
    const { json, headers } = await pending;
    expect(InferReply.parse(json).outputs[output]).toEqual({ dtype: long.dtype, shape: long.shape, data: [...values] });
    expect(headers.get("server-timing")).toContain("total;dur=");
  });

  it("that was mended on the way says so", async () => {
    const pending = infer();
    const { requestId } = await nextOffer();
    const faults = [{ code: "device-lost", detail: "It died.", action: "retried" }];
    const times = { queueMs: 0.1, uploadMs: 0.1, computeMs: 0.2, readbackMs: 0.1 };
    scripted.socket.send(
      encodeFrame({ type: "inferResult", requestId, times, rows: 1, backlogMs: 0, faults }, [
        tensor(output, [0.25, 0.75]),
      ]),
    );
    expect(InferReply.parse((await pending).json).faults).toEqual(faults);
  });

  it("sent as a frame is answered in kind", async () => {
    const { inputs: _, ...header } = request();
    const pending = fetchEdge("POST", "/v1/infer", {
      body: encodeFrame(header, [tensor(input, [1, 2, 3, 4])]),
      headers: { "content-type": FRAME_MEDIA_TYPE },
    });
    answer(await nextOffer(), [1, 2]);
    const response = await pending;
    expect(response.headers.get("content-type")).toBe(FRAME_MEDIA_TYPE);
    const decoded = decodeFrame(new Uint8Array(await response.arrayBuffer()));
    if (!decoded.ok) throw new Error(decoded.message);
    const { tensors } = InferReplyHeader.parse(decoded.header);
    expect(tensors).toEqual([{ name: output, dtype: "float32", shape: [1, 2] }]);
    expect([...typedView({ ...tensor(output, []), bytes: decoded.payload })]).toEqual([1, 2]);
  });

  it.each(["gzip", "deflate"] as const)("may be packed by %s, in either form", async (encoding) => {
    const { inputs: _, ...header } = request();
    const json = new TextEncoder().encode(JSON.stringify(request()));
    const frame = encodeFrame(header, [tensor(input, [1, 2, 3, 4])]);
    for (const [type, body] of [
      ["application/json", json],
      [FRAME_MEDIA_TYPE, frame],
    ] as const) {
      const headers = { "content-type": type, "content-encoding": encoding };
      const pending = fetchEdge("POST", "/v1/infer", { body: await packBody(new Uint8Array(body), encoding), headers });
      answer(await nextOffer(), [1, 2]);
      const response = await pending;
      expect([response.status, response.headers.get("content-type")]).toEqual([200, type]);
      await response.body?.cancel();
    }
  });

  it("that is packed is refused where it holds too much, is damaged, or has another encoding", async () => {
    const post = (body: Uint8Array, encoding: string) =>
      callEdge("POST", "/v1/infer", { body, headers: { ...JSON_TYPE, "content-encoding": encoding } });
    const bomb = await packBody(new Uint8Array(64 * 2 ** 20), "gzip");
    expect(problemOf(await post(bomb, "gzip")).code).toBe("payload-too-large");
    expect(pointersOf(await post(bomb.subarray(0, 100), "gzip"))).toEqual(["#"]);
    expect(pointersOf(await post(bomb, "deflate"))).toEqual(["#"]);
    const other = await post(bomb, "zstd");
    expect([other.status, other.headers.get("accept-encoding")]).toEqual([415, "gzip, deflate, identity"]);
    expect(pointersOf(other)).toEqual(["header/content-encoding"]);
    expect(scripted.frames).toEqual([]);
  });

  it("that unpacks to too much is not read on", async () => {
    const bomb = await packBody(new Uint8Array(64 * 2 ** 20), "gzip");
    let taken = 0;
    function* pieces() {
      for (; taken < bomb.byteLength; taken += 4_096) yield bomb.subarray(taken, taken + 4_096);
    }
    await expect(unpackBody(pieces(), "gzip", 2 ** 20)).rejects.toThrow("must be at most 1048576 bytes");
    expect(taken).toBeLessThan(bomb.byteLength / 4);
  });

  it("that unpacks to as much as it may lets others work meanwhile", async () => {
    const packed = await packBody(new Uint8Array(LIMITS.inferBodyBytes), "gzip");
    let pauses = 0;
    await unpackBody([packed], "gzip", LIMITS.inferBodyBytes, async () => void pauses++);
    expect(pauses).toBeGreaterThanOrEqual(LIMITS.inferBodyBytes / 2 ** 19);
  });

  it("names an input that its frame lacks", async () => {
    const { inputs: _, ...header } = request();
    const body = encodeFrame(header, [tensor("other", [1, 2, 3, 4])]);
    const reply = await callEdge("POST", "/v1/infer", { body, headers: { "content-type": FRAME_MEDIA_TYPE } });
    expect(problemOf(reply).detail).toContain(`lacks the input ${input}, float32 [-1, 4]`);
  });

  it("names the inputs that do not fit the model, and reaches no runner", async () => {
    const wrong = await infer({ inputs: { [input]: { data: [1, 2] }, "a/b": { data: [1] } } });
    expect(pointersOf(wrong)).toEqual([`#/inputs/${input}`, "#/inputs/a~1b"]);
    expect(pointersOf(await infer({ inputs: {} }))).toEqual([`#/inputs/${input}`]);
    expect(pointersOf(await infer({ inputs: { [input]: { data: [[1, 2, 3, 1e39]] } } }))).toEqual([
      `#/inputs/${input}`,
    ]);
    expect(scripted.frames).toEqual([]);
  });

  it("that is larger than the limit is refused, in either form", async () => {
    for (const mediaType of ["application/json", FRAME_MEDIA_TYPE]) {
      const body = new Uint8Array(LIMITS.inferBodyBytes + 1);
      const reply = await callEdge("POST", "/v1/infer", { body, headers: { "content-type": mediaType } });
      expect(reply.status).toBe(413);
      expect(problemOf(reply).code).toBe("payload-too-large");
    }
    expect(scripted.frames).toEqual([]);
  });

  it("within a budget that nothing meets is refused with one that would be met", async () => {
    const reply = await infer({ budgetMs: 0.1 });
    expect(reply.status).toBe(422);
    const { code, fits, errors } = problemOf(reply);
    expect(code).toBe("budget-unattainable");
    expect(errors?.map(({ pointer }) => pointer)).toEqual(["#/budgetMs"]);
    expect(fits?.budgetMs).toBeGreaterThan(0.9);
  });

  it("that the runner cannot do fails with its problem, under the edge's own status", async () => {
    const pending = infer();
    const { requestId } = await nextOffer();
    const problem = { ...createProblem("backend-failed", "It does not compute."), status: 42, title: "Made up" };
    scripted.send({ type: "inferFailed", requestId, problem });
    const reply = await pending;
    expect(reply.status).toBe(502);
    expect(problemOf(reply)).toMatchObject({ code: "backend-failed", detail: "It does not compute.", status: 502 });
  });

  it("that gets no answer ends by its deadline, with a message to the runner", async () => {
    // A best effort is sent even if slow answers before it predict a miss.
    const pending = infer({ budgetMs: 900, onMiss: "best-effort" });
    const { requestId } = await nextOffer();
    const reply = await pending;
    expect(reply.status).toBe(504);
    expect(problemOf(reply).code).toBe("budget-exceeded");
    expect((await scripted.next("inferCancel")).requestId).toBe(requestId);
    // A silent runner gets probes of the edge's own until it answers, and nothing that could not wait as long again.
    expect(problemOf(await infer({ budgetMs: 600 })).code).toBe("runner-offline");
    answer(await nextOffer(), [1, 2]);
    await isReady();
  });

  it("whose caller goes away ends at the runner, and shows nothing", async () => {
    const leaving = new AbortController();
    // A caller that leaves after a long wait makes its runner count as silent.
    const clock = stopClock();
    const body = request({ budgetMs: 600_000 });
    const pending = fetchEdge("POST", "/v1/infer", { body, signal: leaving.signal });
    const { requestId } = await nextOffer();
    leaving.abort();
    await expect(pending).rejects.toMatchObject({ name: "AbortError" });
    // Probes of earlier tests may be cancelled first; without this cancellation the wait would not end.
    while ((await scripted.next("inferCancel")).requestId !== requestId);
    clock.start();
    // The next one is neither refused nor sent elsewhere.
    const next = infer();
    answer(await nextOffer(), [1, 2]);
    expect((await next).status).toBe(200);
  });

  it("that is answered with nonsense is the runner's failure", async () => {
    const pending = infer();
    const { requestId } = await nextOffer();
    const times = { queueMs: 0, uploadMs: 0, computeMs: 0, readbackMs: 0 };
    const lying = encodeFrame({ type: "inferResult", requestId, times, rows: 1, backlogMs: 0 }, [
      { ...tensor(output, [1]), shape: [99] },
    ]);
    scripted.socket.send(lying);
    expect(problemOf(await pending).code).toBe("backend-failed");
  });

  it("keeps a placement that was measured anew since its runner said hello", async () => {
    const db = openDatabase(env.DB);
    const list = () => callEdge("GET", "/v1/models/cartpole/placements");
    const { items } = (await list()).json;
    const [{ id, updatedAt }] = items;
    await deletePlacements(db, [id], Date.parse(updatedAt));
    expect((await list()).json.items).toEqual(items);
  });

  it("on a runner that drains finds no placement", async () => {
    await callEdge("POST", `/v1/runners/${runner.runnerId}/drain`);
    await expect.poll(async () => problemOf(await infer({ budgetMs: 5 })).code, BOUND).toBe("runner-offline");
  });
});
