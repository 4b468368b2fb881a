import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Env } from "../../../src/edge/config.ts";
import { authorise, type Caller } from "../../../src/edge/http/auth.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { decodeFrame, encodeFrame } from "../../../src/protocol/wire/frame.ts";
import { FRAME_MEDIA_TYPE, InferReplyHeader } from "../../../src/protocol/inference/inference.ts";
import type { Tensor } from "../../../src/protocol/wire/tensor.ts";
import {
  callEdge,
  fetchEdge,
  problemOf,
  type RegisteredRunner,
  registerRunner,
  type Reply,
} from "../stack/edge-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { calibrationResult } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { cartpole } from "../stack/zoo.ts";

let runner: RegisteredRunner;
let scripted: ScriptedRunner;
let placementId = "";
let names = { input: "", output: "" };

const tensor = (name: string, values: number[]): Tensor => ({
  name,
  dtype: "float32",
  shape: [1, values.length],
  bytes: new Uint8Array(Float32Array.from(values).buffer),
});

function send(changes: object = {}, key = runner.credential, mediaType = FRAME_MEDIA_TYPE): Promise<Response> {
  const header = { model: "cartpole", budgetMs: 60_000, placementId, ...changes };
  const body = encodeFrame(header, [tensor(names.input, [1, 2, 3, 4])]);
  return fetchEdge("POST", "/v1/link/infer", { key, body, headers: { "content-type": mediaType } });
}

async function refused(response: Response): Promise<Reply> {
  return { status: response.status, headers: response.headers, json: await response.json() };
}

/** Requests of the model in the history. */
async function countTotals(): Promise<number> {
  const query = `select sum(p.count) as n from points p join series s on s.no = p.series_no
    where s.subject = 'cartpole@1' and s.metric = 'totalMs'`;
  return (await env.DB.prepare(query).first<{ n: number | null }>())?.n ?? 0;
}

beforeAll(async () => {
  runner = await registerRunner();
  scripted = await ScriptedRunner.online(runner);
  const { version } = (
    await callEdge("POST", "/v1/models?name=cartpole", {
      body: cartpole,
      headers: { "content-type": "application/octet-stream" },
    })
  ).json;
  names = { input: version.inputs[0].name, output: version.outputs[0].name };
  scripted.succeed(await scripted.next("offer"), calibrationResult(version.id));
  await scripted.next("jobSettled");
  [{ id: placementId }] = (await callEdge("GET", "/v1/models/cartpole/placements")).json.items;
});

/** Sender of a request with this credential. */
/** A caller at an address of its own: the edge's tests send many wrong secrets from the one they share. */
function callerWith(credential: string): Caller {
  return { authorization: `Bearer ${credential}`, address: credential };
}

afterEach(() => vi.useRealTimers());

describe("load of a runner through the edge", () => {
  it("is answered like a request, by the placement that it names", async () => {
    const pending = send();
    const { offer } = await scripted.nextInfer();
    expect(offer).toMatchObject({ deviceKey: "cpu", variant: "fp32", backend: "ort-cpu" });
    scripted.answer(offer, [tensor(names.output, [0.25, 0.75])]);
    const response = await pending;
    expect(response.headers.get("content-type")).toBe(FRAME_MEDIA_TYPE);
    expect(response.headers.get("server-timing")).toMatch(/total;dur=/);
    const decoded = decodeFrame(new Uint8Array(await response.arrayBuffer()));
    const header = InferReplyHeader.parse(decoded.ok ? decoded.header : null);
    expect(header).toMatchObject({ placement: { id: placementId }, budgetMet: true });
  });

  it("leaves nothing in the history, as a request does", async () => {
    const answerNext = async () => {
      const { offer } = await scripted.nextInfer();
      scripted.answer(offer, [tensor(names.output, [0.25, 0.75])]);
    };
    const measured = send();
    await answerNext();
    expect((await measured).status).toBe(200);
    // Data before a kept request would be kept with it.
    const header = { model: "cartpole", budgetMs: 60_000 };
    const live = fetchEdge("POST", "/v1/infer", {
      body: encodeFrame(header, [tensor(names.input, [1, 2, 3, 4])]),
      headers: { "content-type": FRAME_MEDIA_TYPE },
    });
    await answerNext();
    expect((await live).status).toBe(200);
    await vi.waitFor(async () => expect(await countTotals()).toBeGreaterThan(0), BOUND);
    expect(await countTotals()).toBe(1);
  });

  it("reaches no placement of another runner, and none that is not there", async () => {
    const other = await registerRunner();
    expect(problemOf(await refused(await send({}, other.credential))).code).toBe("no-placement");
    const absent = await refused(await send({ placementId: `plc_${"0".repeat(26)}` }));
    expect(problemOf(absent).code).toBe("no-placement");
    expect(scripted.frames).toEqual([]);
  });

  it("is refused where it is not well-formed", async () => {
    const pointersOf = async (reply: Response) => problemOf(await refused(reply)).errors?.map(({ pointer }) => pointer);
    expect(await pointersOf(await send({ placementId: undefined }))).toEqual(["#/placementId"]);
    expect(await pointersOf(await send({ placementId: "plc_x" }))).toEqual(["#/placementId"]);
    expect(await pointersOf(await send({ budgetMs: -1 }))).toEqual(["#/budgetMs"]);
    expect(await pointersOf(await send({ surprise: 1 }))).toEqual(["#/surprise"]);
    expect(await pointersOf(await send({}, runner.credential, "application/json"))).toEqual(["header/content-type"]);
    const { secret } = (await callEdge("POST", "/v1/keys", { body: { name: "x", scopes: ["admin"] } })).json;
    expect(problemOf(await refused(await send({}, secret))).code).toBe("unauthorized");
  });

  it("took no time rather than less than none where the clock was set back meanwhile", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const pending = send();
    const { offer } = await scripted.nextInfer();
    vi.setSystemTime(Date.now() - 60_000);
    scripted.answer(offer, [tensor(names.output, [0.25, 0.75])]);
    const decoded = decodeFrame(new Uint8Array(await (await pending).arrayBuffer()));
    const { latency } = InferReplyHeader.parse(decoded.ok ? decoded.header : null);
    expect(latency).toMatchObject({ totalMs: 0, linkMs: 0 });
  });
});

describe("a runner's credential under load", () => {
  /** The environment with a database that counts its queries. */
  function countingEnv(): { env: Env; asked: () => number } {
    let asked = 0;
    const prepare = (query: string) => {
      asked++;
      return env.DB.prepare(query);
    };
    const DB = new Proxy(env.DB, {
      get: (db, name) => (name === "prepare" ? prepare : Reflect.get(db, name).bind(db)),
    });
    return { env: { ...(env as unknown as Env), DB }, asked: () => asked };
  }

  it("is looked up once, then behind requests, and ends within half a minute of its removal", async () => {
    const { runnerId, credential } = await registerRunner();
    const counted = countingEnv();
    const behind: Promise<unknown>[] = [];
    const ask = () =>
      authorise(counted.env, callerWith(credential), endpoints.linkInfer, (work) => void behind.push(work));
    vi.useFakeTimers({ toFake: ["Date"] });
    expect(await ask()).toEqual({ kind: "runner", id: runnerId, project: "main" });
    const once = counted.asked();
    for (let i = 0; i < 20; i++) await ask();
    expect(counted.asked()).toBe(once);
    expect(behind).toEqual([]);
    await callEdge("DELETE", `/v1/runners/${runnerId}`);
    vi.setSystemTime(Date.now() + 6_000);
    expect(await ask()).toEqual({ kind: "runner", id: runnerId, project: "main" });
    expect(behind).toHaveLength(1);
    await Promise.all(behind);
    await expect(ask()).rejects.toMatchObject({ problem: { code: "unauthorized" } });
  });

  it("is not trusted for longer without a lookup meanwhile", async () => {
    const { runnerId, credential } = await registerRunner();
    const ask = () => authorise(env, callerWith(credential), endpoints.linkInfer, () => {});
    vi.useFakeTimers({ toFake: ["Date"] });
    await ask();
    await callEdge("DELETE", `/v1/runners/${runnerId}`);
    vi.setSystemTime(Date.now() + 30_001);
    await expect(ask()).rejects.toMatchObject({ problem: { code: "unauthorized" } });
  });

  it("is looked up again once the clock was set back, since its age is unknown then", async () => {
    const { runnerId, credential } = await registerRunner();
    const ask = () => authorise(env, callerWith(credential), endpoints.linkInfer, () => {});
    vi.useFakeTimers({ toFake: ["Date"] });
    await ask();
    await callEdge("DELETE", `/v1/runners/${runnerId}`);
    vi.setSystemTime(Date.now() - 60_000);
    await expect(ask()).rejects.toMatchObject({ problem: { code: "unauthorized" } });
  });

  it("opens other routes of runners only while it is in the database", async () => {
    const { runnerId, credential } = await registerRunner();
    const ask = (endpoint: typeof endpoints.linkInfer | typeof endpoints.fetchTuning) =>
      authorise(env, callerWith(credential), endpoint, () => {});
    await ask(endpoints.linkInfer);
    await callEdge("DELETE", `/v1/runners/${runnerId}`);
    await expect(ask(endpoints.fetchTuning)).rejects.toMatchObject({ problem: { code: "unauthorized" } });
    await expect(authorise(env, callerWith(credential), endpoints.listRunners, () => {})).rejects.toMatchObject({
      problem: { code: "unauthorized" },
    });
  });
});
