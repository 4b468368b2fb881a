import { evictDurableObject, listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { MAIN_PROJECT } from "../../../src/protocol/service/project.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { ActReply, StreamedAction } from "../../../src/protocol/policies/policy.ts";
import { FAULTS, noteRefusal } from "../../../src/edge/routes/inference/policy-stream.ts";
import {
  ADMIN,
  callEdge,
  createKey,
  createProject,
  fetchEdge,
  pointersOf,
  problemOf,
  registerRunner,
} from "../stack/edge-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { calibrationResult } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { stopCalmClock, stopClock } from "../stack/stopped-clock.ts";
import { cartpole } from "../stack/zoo.ts";

let scripted: ScriptedRunner;
let output = "";

const ACT = "/v1/policies/pole/act";
const act = (body: object) => callEdge("POST", ACT, { body: { budgetMs: 60_000, ...body } });

/** Answers the next request: outputs for each observation. */
async function answerNext(...outputs: readonly (readonly number[])[]): Promise<number[][]> {
  const { offer, payload } = await scripted.nextInfer();
  const values = [...new Float32Array(payload.slice().buffer)];
  const bytes = new Uint8Array(Float32Array.from(outputs.flat()).buffer);
  scripted.answer(offer, [{ name: output, dtype: "float32", shape: [outputs.length, 2], bytes }]);
  return outputs.map((_, index) => values.slice(4 * index, 4 * (index + 1)));
}

/** Answers the edge's own probes until only the budget can refuse: an answer may come too late for one of them. */
const isReady = () =>
  vi.waitFor(async () => {
    while (scripted.frames.length > 0) await answerNext([0, 1]);
    const reply = await act({ observation: [1, 2, 3, 4], budgetMs: 0.1 });
    expect(problemOf(reply).code).toBe("budget-unattainable");
  }, BOUND);

beforeAll(async () => {
  scripted = await ScriptedRunner.online(await registerRunner());
  const uploaded = await callEdge("POST", "/v1/models?name=pole", {
    body: cartpole,
    headers: { "content-type": "application/octet-stream" },
  });
  output = uploaded.json.version.outputs[0].name;
  scripted.succeed(await scripted.next("offer"), calibrationResult(uploaded.json.version.id));
  expect((await scripted.next("jobSettled")).stored).toBe(true);
  await isReady();
});

afterEach(() => vi.restoreAllMocks());

describe("acting", () => {
  it("on one observation gives one action, with the placement and split of any inference", async () => {
    const pending = act({ observation: [1, 2, 3, 4] });
    expect(await answerNext([0.25, 0.75])).toEqual([[1, 2, 3, 4]]);
    const reply = ActReply.parse((await pending).json);
    expect(reply).toMatchObject({ model: "pole", version: 1, action: 1, budgetMet: true });
    expect(reply.actions).toBeUndefined();
  });

  it("on several gives one each, in one request to the runner", async () => {
    const observations = [
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ];
    const pending = act({ observations, action: "raw" });
    expect(await answerNext([1, 0], [0, 2])).toEqual(observations);
    expect((await pending).json.actions).toEqual([
      [1, 0],
      [0, 2],
    ]);
  });

  it("by drawing is the same for the same seed", async () => {
    const draw = async (seed: number) => {
      const pending = act({ observations: Array.from({ length: 40 }, () => [0, 0, 0, 0]), action: "sample", seed });
      await answerNext(...Array.from({ length: 40 }, () => [0, 0]));
      return (await pending).json.actions as number[];
    };
    const first = await draw(1);
    expect(new Set(first)).toEqual(new Set([0, 1]));
    expect(await draw(1)).toEqual(first);
    expect(await draw(2)).not.toEqual(first);
  });

  it("by drawing without a seed returns the drawn one, which repeats the action", async () => {
    const draw = async (seed?: number) => {
      const pending = act({ observation: [0, 0, 0, 0], action: "sample", seed });
      await answerNext([0, 0]);
      return ActReply.parse((await pending).json);
    };
    const drawn = [await draw(), await draw()];
    expect(new Set(drawn.map(({ seed }) => seed)).size).toBe(2);
    for (const { seed, action } of drawn) expect((await draw(seed)).action).toBe(action);
  });

  it("takes as many observations as the limit says, in a body of an inference's size", async () => {
    const observation = Array.from({ length: 4 }, () => 0.123456789012345);
    const observations = (length: number) => Array.from({ length }, () => observation);
    expect(JSON.stringify(observations(LIMITS.observations)).length).toBeGreaterThan(LIMITS.jsonBodyBytes);
    const pending = act({ observations: observations(LIMITS.observations) });
    await answerNext(...observations(LIMITS.observations).map(() => [0, 1]));
    expect((await pending).json.actions).toHaveLength(LIMITS.observations);
    expect(pointersOf(await act({ observations: observations(LIMITS.observations + 1) }))).toEqual(["#/observations"]);
    const long = (length: number) => act({ observation: Array.from({ length }, () => 0) });
    expect(problemOf(await long(LIMITS.observationElements)).detail).toContain("must have 4 numbers");
    expect(problemOf(await long(LIMITS.observationElements + 1)).detail).not.toContain("must have 4 numbers");
    // One mistake is reported for each wrong one.
    const huge32 = await act({ observation: [1, 2, 1e39, -1e39] });
    expect(problemOf(huge32).errors).toEqual([
      { pointer: "#/observation/2", message: "must be within float32, below 3.4028235e38" },
    ]);
    expect(pointersOf(await act({ observations: [["x", "y"], [1, 2, 3, null], 7] }))).toEqual([
      "#/observations/0/0",
      "#/observations/1/3",
      "#/observations/2",
    ]);
    expect(problemOf(await act({ observations: Array.from({ length: 500_000 }, () => ({})) })).code).toBe(
      "invalid-request",
    );
    const huge = `{"observation": [${"0,".repeat(LIMITS.inferBodyBytes / 2)}0]}`;
    const reply = await callEdge("POST", ACT, { body: huge, headers: { "content-type": "application/json" } });
    expect(problemOf(reply).code).toBe("payload-too-large");
  });

  it("names what is wrong, and reaches no runner", async () => {
    const cases: [object, string[]][] = [
      [{}, ["#/observation"]],
      [{ observation: [1], observations: [[1]] }, ["#/observation"]],
      [{ observation: [1, 2, 3] }, ["#/observation"]],
      [{ observations: [[1, 2, 3, 4], [1]] }, ["#/observations/1"]],
      [{ observations: [] }, ["#/observations"]],
      [{ observation: [1, 2, 3, "x"] }, ["#/observation/3"]],
      [{ observation: [1, 2, 3, 4], action: "dance" }, ["#/action"]],
    ];
    for (const [body, pointers] of cases) {
      const reply = await act(body);
      expect(problemOf(reply).code).toBe("invalid-request");
      expect(pointersOf(reply)).toEqual(pointers);
    }
    expect(
      problemOf(await callEdge("POST", "/v1/policies/nobody/act", { body: { observation: [1], budgetMs: 5 } })).code,
    ).toBe("not-found");
    expect(scripted.frames).toEqual([]);
  });

  it("fails where the runner's outputs are of other observations, or not finite", async () => {
    const short = act({
      observations: [
        [1, 2, 3, 4],
        [1, 2, 3, 4],
      ],
    });
    await answerNext([1, 2]);
    expect(problemOf(await short).code).toBe("backend-failed");
    const wild = act({ observation: [1, 2, 3, 4] });
    await answerNext([Number.NaN, 1]);
    expect(problemOf(await wild).code).toBe("backend-failed");
    const raw = act({ observation: [1, 2, 3, 4], action: "raw" });
    await answerNext([Number.NaN, 1]);
    expect(problemOf(await raw).code).toBe("backend-failed");
  });
});

describe("a stream of observations", () => {
  async function open(query = "budgetMs=60000", key = ADMIN, forged: Record<string, string> = {}) {
    const headers = { upgrade: "websocket", ...forged };
    const response = await fetchEdge("GET", `/v1/policies/pole/stream?${query}`, { key, headers });
    expect(response.status).toBe(101);
    const socket = response.webSocket as WebSocket;
    const received: StreamedAction[] = [];
    socket.accept();
    socket.addEventListener("message", ({ data }) => {
      received.push(StreamedAction.parse(JSON.parse(data as string)));
    });
    const next = () =>
      vi.waitFor(() => {
        const message = received.shift();
        if (message === undefined) throw new Error("nothing came");
        return message;
      }, BOUND);
    const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
    return { socket, next, closed };
  }

  /** The objects that `work` makes. */
  async function objectsMadeBy(work: () => Promise<unknown>): Promise<DurableObjectStub[]> {
    const ids = async () => (await listDurableObjectIds(env.POLICY_STREAM)).map(String);
    const before = new Set(await ids());
    await work();
    const made = (await ids()).filter((id) => !before.has(id));
    return made.map((id) => env.POLICY_STREAM.get(env.POLICY_STREAM.idFromString(id)));
  }

  it("gives each its action by its number, and goes on behind a mistake", async () => {
    const { socket, next } = await open();
    socket.send(JSON.stringify({ seq: 7, observation: [1, 2, 3, 4] }));
    expect(await answerNext([3, 1])).toEqual([[1, 2, 3, 4]]);
    expect(await next()).toMatchObject({ seq: 7, action: 0 });
    for (const [wrong, seq, pointer] of [
      ["{", null, "#"],
      [JSON.stringify({ seq: 8, observation: [1] }), 8, "#/observation"],
      [JSON.stringify({ seq: -1, observation: [1, 2, 3, 4] }), null, "#/seq"],
      ["x".repeat(LIMITS.streamedMessageBytes + 1), null, "#"],
      // Two bytes each in UTF-8.
      [JSON.stringify({ seq: 8, observation: ["é".repeat(LIMITS.streamedMessageBytes / 2)] }), null, "#"],
    ] as const) {
      socket.send(wrong);
      expect(await next()).toMatchObject({ seq, problem: { code: "invalid-request", errors: [{ pointer }] } });
    }
    socket.send(JSON.stringify({ seq: 9, observation: [1, 2, 3, 4] }));
    await answerNext([1, 3]);
    expect(await next()).toMatchObject({ seq: 9, action: 1 });
    socket.close(1000, "done");
  });

  it("ends when its key is revoked", async () => {
    const { id, secret } = await createKey(["infer"]);
    const { socket, next, closed } = await open("budgetMs=60000", secret);
    socket.send(JSON.stringify({ seq: 1, observation: [1, 2, 3, 4] }));
    await answerNext([3, 1]);
    expect(await next()).toMatchObject({ seq: 1, action: 0 });
    expect((await fetchEdge("DELETE", `/v1/keys/${id}`)).status).toBe(200);
    socket.send(JSON.stringify({ seq: 2, observation: [1, 2, 3, 4] }));
    expect(await next()).toMatchObject({ seq: 2, problem: { code: "unauthorized" } });
    expect(await closed).toBe(1008);
    expect(scripted.frames).toEqual([]);
  });

  it("goes on in its object when that has lost its memory, and leaves nothing there", async () => {
    const { id, secret } = await createKey(["infer"]);
    let stream: Awaited<ReturnType<typeof open>> | undefined;
    const [object, ...others] = await objectsMadeBy(async () => {
      stream = await open("budgetMs=60000&action=sample&priority=3", secret);
    });
    const { socket, next, closed } = stream!;
    expect(others).toEqual([]);
    const answers: StreamedAction[] = [];
    for (const seq of [1, 2, 3]) {
      if (seq > 1) await evictDurableObject(object!);
      socket.send(JSON.stringify({ seq, observation: [1, 2, 3, 4] }));
      const { offer } = await scripted.nextInfer();
      expect(offer).toMatchObject({ priority: 3 });
      scripted.answer(offer, [{ name: output, dtype: "float32", shape: [1, 2], bytes: new Uint8Array(8) }]);
      answers.push(await next());
    }
    const seeds = new Set(answers.map((answer) => ("seed" in answer ? answer.seed : undefined)));
    expect([...seeds]).toEqual([expect.any(Number)]);
    expect((await fetchEdge("DELETE", `/v1/keys/${id}`)).status).toBe(200);
    await evictDurableObject(object!);
    socket.send(JSON.stringify({ seq: 4, observation: [1, 2, 3, 4] }));
    expect(await next()).toMatchObject({ seq: 4, problem: { code: "unauthorized" } });
    expect(await closed).toBe(1008);
    await vi.waitFor(async () => {
      const left = await runInDurableObject(object!, async (_, state) => [
        state.getWebSockets().length,
        (await state.storage.list()).size,
      ]);
      expect(left).toEqual([0, 0]);
    }, BOUND);
  });

  it("heeds nothing that a caller says to its object", async () => {
    const version = { model: "other@1", policy: { observation: { name: "x", shape: [-1, 1] }, output: "y" } };
    const stream = { project: "other", version, action: "raw", seed: 1, wishes: { budgetMs: 1 }, trace: null };
    const forged = { "x-stream": encodeURIComponent(JSON.stringify({ ...stream, address: "" })) };
    const { socket, next } = await open("budgetMs=60000&action=sample&seed=2", ADMIN, forged);
    socket.send(JSON.stringify({ seq: 1, observation: [1, 2, 3, 4] }));
    await answerNext([9, -99]);
    expect(await next()).toMatchObject({ seq: 1, action: 0, seed: 2 });
    socket.close(1000, "done");
  });

  it("draws by a seed of its own, which it returns", async () => {
    const { socket, next } = await open("budgetMs=60000&action=sample");
    const seeds = new Set<number | undefined>();
    for (const seq of [1, 2]) {
      socket.send(JSON.stringify({ seq, observation: [1, 2, 3, 4] }));
      await answerNext([0, 0]);
      const answer = await next();
      seeds.add("seed" in answer ? answer.seed : undefined);
    }
    expect([...seeds]).toEqual([expect.any(Number)]);
    socket.close(1000, "done");
  });

  it("takes every wish of an inference", async () => {
    const { socket, next } = await open("budgetMs=60000&confidence=0.9&priority=3&onMiss=best-effort&backend=ort-cpu");
    socket.send(JSON.stringify({ seq: 1, observation: [1, 2, 3, 4] }));
    const { offer } = await scripted.nextInfer();
    // A best effort is made however unlikely success is.
    expect(offer).toMatchObject({ confidence: 0, priority: 3 });
    scripted.answer(offer, [{ name: output, dtype: "float32", shape: [1, 2], bytes: new Uint8Array(8) }]);
    expect(await next()).toMatchObject({ seq: 1, action: 0 });
    socket.close(1000, "done");
    const { labelCount, nameLength } = LIMITS;
    const pairs = Array.from(
      { length: labelCount },
      (_, at) => `${"k".repeat(nameLength - 2)}${at + 10}=${"\u20ac".repeat(nameLength)}`,
    );
    const longest = `labels=${encodeURIComponent(pairs.join(","))}`;
    for (const wish of ["minFidelity=1&labels=site=east", "profile=gpu-accelerated", "backend=ort-webgpu", longest]) {
      const other = await open(`budgetMs=60000&${wish}`);
      other.socket.send(JSON.stringify({ seq: 1, observation: [1, 2, 3, 4] }));
      expect(await other.next(), wish).toMatchObject({ seq: 1, problem: { code: "no-placement" } });
      other.socket.close(1000, "done");
    }
  });

  it("ends an observation at its budget, and takes no more than may wait", async () => {
    const { socket, next } = await open();
    const most = LIMITS.streamedObservations;
    for (let seq = 0; seq <= most; seq++) socket.send(JSON.stringify({ seq, observation: [0, 0, 0, 0] }));
    expect(await next()).toMatchObject({ seq: most, problem: { code: "overloaded" } });
    for (let seq = 0; seq < most; seq++) await answerNext([0, 1]);
    const seqs = new Set<number | null>();
    for (let seq = 0; seq < most; seq++) {
      const answer = await next();
      expect(answer).toMatchObject({ action: 1 });
      seqs.add(answer.seq);
    }
    expect(seqs.size).toBe(most);
    socket.close(1000, "done");
    // Last: the edge probes a runner that let a request end. No slow answer before keeps a best effort from it.
    const brief = await open("budgetMs=900&onMiss=best-effort");
    brief.socket.send(JSON.stringify({ seq: 1, observation: [0, 0, 0, 0] }));
    await scripted.nextInfer();
    expect(await brief.next()).toMatchObject({ seq: 1, problem: { code: "budget-exceeded" } });
    brief.socket.close(1000, "done");
    await isReady();
  });

  it("answers a wrong observation under its number", async () => {
    const { socket, next } = await open("budgetMs=60000");
    for (const [message, seq, pointer] of [
      [{ seq: 3 }, 3, "#/observation"],
      [{ seq: 4, observation: [1, 2, 3] }, 4, "#/observation"],
      [{ seq: 5, observation: [1, 2, 3, 1e39] }, 5, "#/observation/3"],
      [{ seq: 6, observation: [1, 2, 3, 4], surprise: 1 }, 6, "#/surprise"],
      [{ seq: -1, observation: [1, 2, 3, 4] }, null, "#/seq"],
      [[], null, "#"],
    ] as const) {
      socket.send(JSON.stringify(message));
      expect(await next()).toMatchObject({ seq, problem: { code: "invalid-request", errors: [{ pointer }] } });
    }
    socket.close(1000, "done");
  });

  it("refuses what is longer than its numbers need, and what comes too fast, without parsing it", async () => {
    const message = JSON.stringify({ seq: 3, observation: [1, 2, 3, 4] });
    const { socket, next } = await open("budgetMs=60000");
    socket.send(message.padEnd(1_024 + 4 * 32 + 1));
    expect(await next()).toMatchObject({ seq: null, problem: { errors: [{ pointer: "#" }] } });
    socket.send(message.padEnd(1_024 + 4 * 32));
    await answerNext([3, 1]);
    expect(await next()).toMatchObject({ seq: 3, action: 0 });
    socket.close(1000, "done");

    const slow = { name: "slow", scopes: ["infer"], requestsPerSecond: 1 };
    const { secret } = (await callEdge("POST", "/v1/keys", { body: slow })).json;
    // With time, a third one would be allowed.
    stopClock();
    const other = await open("budgetMs=60000", secret);
    for (let seq = 0; seq < 3; seq++) other.socket.send(`{"observation": {, "seq": ${seq}}`);
    const codes = new Map<number | null, string>();
    for (let answers = 0; answers < 3; answers++) {
      const answer = await other.next();
      codes.set(answer.seq, "problem" in answer ? answer.problem.code : "action");
    }
    expect([...codes]).toContainEqual([2, "rate-limited"]);
    expect(codes.get(0)).toBe("invalid-request");
    other.socket.close(1000, "done");
  });

  it("wants a WebSocket, a budget and a policy", async () => {
    const refused = async (path: string, headers = {}) => callEdge("GET", path, { headers });
    expect(pointersOf(await refused("/v1/policies/pole/stream?budgetMs=50"))).toEqual(["header/upgrade"]);
    const socket = { upgrade: "websocket" };
    expect(pointersOf(await refused("/v1/policies/pole/stream", socket))).toEqual(["query/budgetMs"]);
    for (const [name, value] of [
      ["confidence", "2"],
      ["priority", "10"],
      ["onMiss", "wait"],
      ["labels", "east"],
    ] as const) {
      const path = `/v1/policies/pole/stream?budgetMs=50&${name}=${value}`;
      const [pointer] = pointersOf(await refused(path, socket));
      expect(pointer?.split("/").slice(0, 2)).toEqual(["query", name]);
    }
    expect(problemOf(await refused("/v1/policies/nobody/stream?budgetMs=50", socket)).code).toBe("not-found");
  });

  it("ends a stream that goes on with wrong observations, after an answer to each", async () => {
    const { socket, next, closed } = await open("budgetMs=60000");
    for (let sent = 0; sent <= 4 * FAULTS.burst; sent++) socket.send("{}");
    for (let read = 0; read < FAULTS.burst; read++)
      expect(await next()).toMatchObject({ seq: null, problem: { code: "invalid-request" } });
    expect(await closed).toBe(1013);
  });

  it("ends where too many observations of its project were refused, and no other is opened then", async () => {
    const [{ socket, closed }, calm] = [await open("budgetMs=0.1"), await open("budgetMs=0.1")];
    const { secret } = await createProject("calm");
    // With time, the project's refusals are forgotten.
    const clock = await stopCalmClock();
    const opening = (key: string) =>
      callEdge("GET", "/v1/policies/pole/stream?budgetMs=200", { key, headers: { upgrade: "websocket" } });
    while (noteRefusal(MAIN_PROJECT));
    const refused = problemOf(await opening(ADMIN));
    expect([refused.code, refused.retryAfterMs]).toEqual(["overloaded", 1_000]);
    expect(problemOf(await opening(secret)).code).toBe("not-found");
    // A stream that is calm itself goes on.
    calm.socket.send("{}");
    expect(await calm.next()).toMatchObject({ problem: { code: "invalid-request" } });
    expect(calm.socket.readyState).toBe(WebSocket.OPEN);
    calm.socket.close(1000, "done");
    for (let sent = 0; sent <= FAULTS.burst; sent++) socket.send('{"seq": 1, "observation": [1, 2, 3, 4]}');
    expect(await closed).toBe(1013);
    clock.start();
    await vi.waitFor(async () => (await open()).socket.close(1000, "done"), BOUND);
  });
});
