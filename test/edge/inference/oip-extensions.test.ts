import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { OipConfig, OipIndex, OipStats } from "../../../src/protocol/inference/oip.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import type { Tensor } from "../../../src/protocol/wire/tensor.ts";
import {
  callEdge,
  createKey,
  createProject,
  fetchEdge,
  type RegisteredRunner,
  registerRunner,
} from "../stack/edge-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { calibrationResult } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { cartpole, lenet5, variantOf } from "../stack/zoo.ts";

/** Triton's extensions of the Open Inference Protocol: configuration, repository, statistics, and those refused. */

let runner: RegisteredRunner;
let scripted: ScriptedRunner;

const OCTETS = { "content-type": "application/octet-stream" };
const upload = (name: string, body: Uint8Array) =>
  callEdge("POST", `/v1/models?name=${name}`, { body, headers: OCTETS });
const statusOf = async (path: string) => (await fetchEdge("GET", path)).status;
const readIndex = async (body?: unknown) =>
  OipIndex.parse((await callEdge("POST", "/v2/repository/index", { body })).json);
const readStats = async (path: string) => OipStats.parse((await callEdge("GET", path)).json).model_stats;

/** Has the runner calibrate the version with this id. */
async function calibrate(versionId: string): Promise<void> {
  let offer = await scripted.next("offer");
  while (offer.spec.kind !== "calibration" || offer.spec.modelVersionId !== versionId)
    offer = await scripted.next("offer");
  scripted.succeed(offer, calibrationResult(versionId));
  await scripted.next("jobSettled");
}

/** Uploads a file under a name and has it calibrated; returns the version's id. */
async function place(name: string, body: Uint8Array): Promise<string> {
  const { id } = (await upload(name, body)).json.version;
  await calibrate(id);
  await vi.waitFor(async () => expect(await statusOf(`/v2/models/${name}/ready`)).toBe(200), BOUND);
  return id;
}

/** Asks a model for so many rows, which are computed in a batch of `batch`. */
async function infer(model: string, rows = 1, batch = rows): Promise<void> {
  const data = Array.from({ length: 4 * rows }, () => 0.5);
  const inputs = [{ name: "observation", shape: [rows, 4], datatype: "FP32", data }];
  const pending = callEdge("POST", `/v2/models/${model}/infer`, { body: { inputs } });
  const answer: Tensor = { name: "logits", dtype: "float32", shape: [rows, 2], bytes: new Uint8Array(8 * rows) };
  scripted.answer((await scripted.nextInfer()).offer, [answer], 0, batch);
  expect((await pending).status).toBe(200);
}

beforeAll(async () => {
  runner = await registerRunner();
  scripted = await ScriptedRunner.online(runner);
  await place("triton-one", cartpole);
  // Its only runner never connects: what another one measures counts for nothing.
  const absent = await registerRunner();
  const idle = await upload("triton-idle", lenet5);
  const rule = { kind: "pinned", runnerIds: [absent.runnerId] };
  await callEdge("PUT", "/v1/models/triton-idle/placement", { body: rule });
  await calibrate(idle.json.version.id);
});

describe("the configuration", () => {
  it("is that of a model with rows, as it is served", async () => {
    const { json } = await callEdge("GET", "/v2/models/triton-one/config");
    const config = OipConfig.parse(json);
    expect(config).toMatchObject({
      name: "triton-one",
      max_batch_size: LIMITS.batchRows,
      version_policy: { all: {} },
      input: [{ name: "observation", data_type: "TYPE_FP32", dims: [4] }],
      output: [{ name: "logits", data_type: "TYPE_FP32", dims: [2] }],
      dynamic_batching: { max_queue_delay_microseconds: 0 },
      model_transaction_policy: { decoupled: false },
      parameters: { placement_rule: { string_value: "automatic" } },
    });
    const [placement] = (await callEdge("GET", "/v1/models/triton-one/placements")).json.items;
    expect(config.instance_group).toEqual([{ name: placement.id, kind: "KIND_CPU", count: 1 }]);
    expect((await callEdge("GET", "/v2/models/triton-one/versions/1/config")).json).toEqual(json);
  });

  it("has no instances while nothing serves the model, and is 400 for an unknown one", async () => {
    const config = OipConfig.parse((await callEdge("GET", "/v2/models/triton-idle/config")).json);
    expect(config.instance_group).toEqual([]);
    expect(await callEdge("GET", "/v2/models/nobody/config")).toMatchObject({
      status: 400,
      json: { error: "Request for unknown model: 'nobody' is not found" },
    });
  });
});

describe("the repository", () => {
  it("lists every version with its state, and the ready ones alone where that is asked for", async () => {
    const idle = { name: "triton-idle", version: "1", state: "UNAVAILABLE", reason: "no runner was calibrated for it" };
    const ready = { name: "triton-one", version: "1", state: "READY", reason: "" };
    await vi.waitFor(async () => expect(await readIndex()).toEqual([ready, idle]), BOUND);
    for (const body of ["", {}, { ready: false }]) expect(await readIndex(body)).toEqual([ready, idle]);
    expect(await readIndex({ ready: true })).toEqual([ready]);
    expect(await callEdge("POST", "/v2/repository/index", { body: { ready: 1 } })).toMatchObject({
      status: 400,
      json: { error: expect.stringContaining("#/ready") },
    });
  });

  it("unloads a model from every runner and loads it again", async () => {
    const versionId = await place("triton-loaded", variantOf(cartpole, 1));
    const ready = "/v2/models/triton-loaded/ready";
    for (let repeat = 0; repeat < 2; repeat++) {
      const unloaded = await fetchEdge("POST", "/v2/repository/models/triton-loaded/unload");
      expect([unloaded.status, await unloaded.text()]).toEqual([200, ""]);
      expect(await statusOf(ready)).toBe(400);
    }
    expect(await readIndex()).toContainEqual({
      name: "triton-loaded",
      version: "1",
      state: "UNAVAILABLE",
      reason: "unloaded",
    });
    expect((await callEdge("GET", "/v1/models/triton-loaded")).json.placement).toEqual({ kind: "none" });
    const body = { parameters: { unload_dependents: false } };
    expect((await fetchEdge("POST", "/v2/repository/models/triton-loaded/load", { body })).status).toBe(200);
    expect((await callEdge("GET", "/v1/models/triton-loaded")).json.placement).toEqual({ kind: "automatic" });
    await calibrate(versionId);
    await vi.waitFor(async () => expect(await statusOf(ready)).toBe(200), BOUND);
  });

  it("gives an unloaded model's new versions to no runner", async () => {
    await fetchEdge("POST", "/v2/repository/models/triton-loaded/unload");
    await upload("triton-loaded", variantOf(cartpole, 2));
    const later = await upload("triton-later", variantOf(cartpole, 3));
    const offer = await scripted.next("offer");
    expect(offer.spec).toMatchObject({ kind: "calibration", modelVersionId: later.json.version.id });
    scripted.succeed(offer, calibrationResult(later.json.version.id));
    await scripted.next("jobSettled");
  });

  it("leaves another rule as it is when the model is loaded", async () => {
    const rule = { kind: "pinned", runnerIds: [runner.runnerId] };
    await callEdge("PUT", "/v1/models/triton-later/placement", { body: rule });
    expect((await fetchEdge("POST", "/v2/repository/models/triton-later/load")).status).toBe(200);
    expect((await callEdge("GET", "/v1/models/triton-later")).json.placement).toEqual(rule);
  });

  it("refuses unknown models, a configuration of the caller's, and a key that may not submit", async () => {
    const control = (model: string, action: string, sent: object = {}) =>
      callEdge("POST", `/v2/repository/models/${model}/${action}`, sent);
    expect(await control("nobody", "load")).toMatchObject({
      status: 400,
      json: { error: "failed to load 'nobody', failed to poll from model repository" },
    });
    expect((await control("nobody", "unload")).status).toBe(400);
    const configured = await control("triton-one", "load", { body: { parameters: { config: "{}" } } });
    expect(configured).toMatchObject({ status: 400, json: { error: expect.stringContaining("#/parameters/config") } });
    const { secret } = await createKey(["infer"]);
    expect((await control("triton-one", "unload", { key: secret })).status).toBe(403);
    const large = await control("triton-one", "load", { body: " ".repeat(LIMITS.oipControlBytes + 1) });
    expect(large.status).toBe(413);
    expect((await callEdge("GET", "/v2/repository/index")).status).toBe(405);
  });
});

describe("statistics", () => {
  it("count an answer at once, each request once in every part", async () => {
    await place("triton-counted", variantOf(cartpole, 4));
    const path = "/v2/models/triton-counted/stats";
    for (const requests of [1, 2, 3]) {
      await infer("triton-counted", 3);
      const [stats] = await readStats(path);
      expect(stats).toMatchObject({ inference_count: 3 * requests, execution_count: requests });
      const { success, queue, compute_input, compute_infer, compute_output, cache_hit } = stats!.inference_stats;
      const counts = [success, queue, compute_input, compute_infer, compute_output].map(({ count }) => count);
      expect(counts).toEqual(counts.map(() => requests));
      expect(cache_hit).toEqual({ count: 0, ns: 0 });
    }
  });

  it("count shared batches once, whatever their size", async () => {
    for (const _ of [1, 2, 3]) await infer("triton-counted", 1, 3);
    expect(await readStats("/v2/models/triton-counted/stats")).toMatchObject([
      { inference_count: 12, execution_count: 4, inference_stats: { success: { count: 6 }, queue: { count: 6 } } },
    ]);
  });

  it("count a refusal at once", async () => {
    const data = [0.5, 0.5, 0.5, 0.5];
    const inputs = [{ name: "observation", shape: [1, 4], datatype: "FP32", data }];
    const body = { inputs, parameters: { budget_ms: 0.1 } };
    expect((await callEdge("POST", "/v2/models/triton-counted/infer", { body })).status).toBe(503);
    const [stats] = await readStats("/v2/models/triton-counted/stats");
    expect(stats?.inference_stats).toMatchObject({ success: { count: 6 }, fail: { count: 1 } });
  });

  it("are of all versions of a model, of one, or of all models", async () => {
    const versions = await readStats("/v2/models/triton-loaded/stats");
    expect(versions.map(({ name, version }) => [name, version])).toEqual([
      ["triton-loaded", "1"],
      ["triton-loaded", "2"],
    ]);
    expect(await readStats("/v2/models/triton-loaded/versions/2/stats")).toEqual([versions[1]]);
    const all = await readStats("/v2/models/stats");
    expect(all).toEqual(expect.arrayContaining(versions));
    expect(all.find(({ name }) => name === "triton-counted")).toMatchObject({ inference_count: 12 });
    expect((await callEdge("GET", "/v2/models/stats", { key: null })).status).toBe(401);
  });

  it("are of the latest versions, where there are more than one reply has", async () => {
    const { secret: key, project } = await createProject("triton-many");
    const count = LIMITS.oipStatisticsVersions + 5;
    await env.DB.batch([
      env.DB.prepare("insert into models (id, project, name, created_at_ms) values ('mdl_many', ?, 'many', 0)").bind(
        project,
      ),
      env.DB.prepare(
        `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ?)
         insert into model_versions (id, model_id, version, digest, size_bytes, inputs, outputs, created_at_ms)
         select 'mdv_many' || n, 'mdl_many', n, 'sha256:' || n, 1, '[]', '[]', 0 from numbers`,
      ).bind(count),
    ]);
    const readVersions = async () => {
      const { model_stats } = OipStats.parse((await callEdge("GET", "/v2/models/stats", { key })).json);
      return model_stats.map(({ version }) => Number(version));
    };
    await vi.waitFor(async () => expect((await readVersions()).length).toBe(LIMITS.oipStatisticsVersions), BOUND);
    expect((await readVersions()).at(-1)).toBe(count);
  });
});

describe("an extension that is absent", () => {
  it.each([
    ["GET", "/v2/systemsharedmemory/status", 501, "Shared memory feature is currently not supported"],
    ["GET", "/v2/systemsharedmemory/region/mine/status", 501, "Shared memory"],
    ["POST", "/v2/systemsharedmemory/region/mine/register", 501, "Shared memory"],
    ["POST", "/v2/systemsharedmemory/unregister", 501, "Shared memory"],
    ["GET", "/v2/cudasharedmemory/status", 501, "Shared memory"],
    ["POST", "/v2/cudasharedmemory/region/mine/register", 501, "Shared memory"],
    ["GET", "/v2/trace/setting", 503, "the server does not support tracing"],
    ["POST", "/v2/models/triton-one/trace/setting", 503, "the server does not support tracing"],
    ["GET", "/v2/logging", 503, "the server does not support dynamic logging"],
    ["POST", "/v2/logging", 503, "the server does not support dynamic logging"],
  ])("is refused in Triton's words at %s %s", async (method, path, status, text) => {
    const reply = await callEdge(method, path, method === "POST" ? { body: {} } : {});
    expect(reply).toMatchObject({ status, json: { error: expect.stringContaining(text) } });
    expect(Object.keys(reply.json)).toEqual(["error"]);
  });

  it("is not named by the server, and further paths are not found", async () => {
    const { extensions } = (await callEdge("GET", "/v2")).json;
    expect(extensions.filter((name: string) => /memory|trace|logging/.test(name))).toEqual([]);
    expect((await callEdge("GET", "/v2/systemsharedmemory/elsewhere")).status).toBe(400);
  });
});
