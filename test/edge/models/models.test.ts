import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { hexOf } from "../../../src/edge/store/secret.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import {
  byNumber,
  callEdge,
  countStored,
  fetchEdge,
  pointersOf,
  problemOf,
  registerRunner,
} from "../stack/edge-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { cartpole, lenet5, variantOf } from "../stack/zoo.ts";

const upload = (name: string, body: Uint8Array) =>
  callEdge("POST", `/v1/models?name=${name}`, { body, headers: { "content-type": "application/octet-stream" } });

describe("an uploaded model", () => {
  it("gets a version for every content, and keeps it for the same", async () => {
    const first = await upload("lenet5", lenet5);
    expect(first.status).toBe(201);
    expect(first.json.version).toMatchObject({
      version: 1,
      sizeBytes: lenet5.byteLength,
      inputs: [{ dtype: "float32", shape: expect.arrayContaining([28]) }],
    });
    const again = await upload("lenet5", lenet5);
    expect(again.status).toBe(200);
    expect(again.json).toEqual(first.json);
    const other = await upload("lenet5", variantOf(lenet5, 1));
    expect(other.status).toBe(201);
    expect(other.json.version).toMatchObject({ version: 2, inputs: first.json.version.inputs });
    expect(other.json.model.versions.map(({ version }: { version: number }) => version)).toEqual([1, 2]);
    expect((await callEdge("GET", "/v1/models/lenet5")).json).toEqual(other.json.model);
    expect((await callEdge("GET", `/v1/models/${other.json.model.id}`)).json).toEqual(other.json.model);
  });

  it("gets distinct versions when uploads meet", async () => {
    const numbers = Array.from({ length: 16 }, (_, index) => index + 1);
    const uploads = await Promise.all(numbers.map((seed) => upload("raced", variantOf(cartpole, seed))));
    expect(new Set(uploads.map(({ status }) => status))).toEqual(new Set([201]));
    expect(uploads.map(({ json }) => json.version.version).toSorted(byNumber)).toEqual(numbers);
  });

  it("gets one version when the same bytes meet", async () => {
    const uploads = await Promise.all([1, 2, 3].map(() => upload("twins", cartpole)));
    expect(uploads.map(({ status }) => status).toSorted(byNumber)).toEqual([200, 200, 201]);
    expect(new Set(uploads.map(({ json }) => json.version.id)).size).toBe(1);
  });

  it("is refused when it is not ONNX or too large, and leaves nothing", async () => {
    const before = await countStored();
    for (const body of [new Uint8Array(0), new TextEncoder().encode("not a model"), lenet5.slice(0, 1_000)]) {
      const reply = await upload("garbage", body);
      expect(reply.status).toBe(422);
      expect(problemOf(reply).code).toBe("invalid-model");
      expect(pointersOf(reply)).toEqual(["#"]);
    }
    const large = await upload("large", new Uint8Array(LIMITS.modelBytes + 1));
    expect(problemOf(large).code).toBe("payload-too-large");
    expect(await countStored()).toEqual(before);
  });

  it("is there for the runner that calibrates it, and for no other", async () => {
    const runner = await registerRunner();
    const scripted = await ScriptedRunner.online(runner);
    const { model } = await scripted.next("offer");
    const path = `/v1/artifacts/${model?.variants[0]?.digest}`;
    const response = await fetchEdge("GET", path, { key: runner.credential });
    expect(response.status).toBe(200);
    expect(`sha256:${hexOf(await crypto.subtle.digest("SHA-256", await response.arrayBuffer()))}`).toBe(
      model?.variants[0]?.digest,
    );
    const stranger = await registerRunner();
    expect(problemOf(await callEdge("GET", path, { key: stranger.credential })).code).toBe("not-found");
  });
});

describe("a file that is checked", () => {
  const check = (body: Uint8Array, headers = { "content-type": "application/octet-stream" }) =>
    callEdge("POST", "/v1/models/check", { body, headers });

  it("is reported and not kept", async () => {
    const before = await countStored();
    const report = await check(lenet5);
    expect(report.status).toBe(200);
    expect(report.json).toMatchObject({
      ok: true,
      problems: [],
      summary: { parameters: 61_706, operators: { Conv: 2 } },
    });
    expect(await countStored()).toEqual(before);
  });

  it("has its problems reported", async () => {
    const unpacked = new TextEncoder().encode("PK\u0003\u0004 a model inside");
    const report = await check(unpacked);
    expect(report.status).toBe(200);
    expect(report.json).toMatchObject({
      ok: false,
      summary: null,
      problems: [{ pointer: "#", message: "the file is a zip archive: unpack it first" }],
    });
    expect(problemOf(await check(lenet5, { "content-type": "text/plain" })).code).toBe("unsupported-media-type");
    expect(problemOf(await check(new Uint8Array(LIMITS.modelBytes + 1))).code).toBe("payload-too-large");
  });
});

describe("what a model is made of", () => {
  it("is stored with it, and learnt of what was stored before", async () => {
    const first = await upload("counted", lenet5);
    const { summary } = first.json.version;
    expect(summary).toMatchObject({ parameters: 61_706, quantisedParameters: 0 });
    expect(first.json.version.variants[0].summary).toEqual(summary);
    await env.DB.prepare("update model_versions set summary = null where id = ?1").bind(first.json.version.id).run();
    expect((await callEdge("GET", "/v1/models/counted")).json.versions[0].summary).toBeNull();
    expect((await upload("counted", lenet5)).json.version.summary).toEqual(summary);
    const variant = await callEdge("POST", "/v1/models/counted/versions/1/variants?name=other", {
      body: variantOf(lenet5, 7),
      headers: { "content-type": "application/octet-stream" },
    });
    expect(variant.json.variants[1]).toMatchObject({ name: "other", summary });
  });
});

describe("files that were stored before anybody counted", () => {
  it("are counted behind readings of their model, variants too", async () => {
    const { id, summary } = (await upload("uncounted", variantOf(lenet5, 8))).json.version;
    await callEdge("POST", "/v1/models/uncounted/versions/1/variants?name=other", {
      body: variantOf(lenet5, 9),
      headers: { "content-type": "application/octet-stream" },
    });
    for (const [table, column] of [
      ["model_versions", "id"],
      ["model_variants", "model_version_id"],
    ] as const) {
      await env.DB.prepare(`update ${table} set summary = null where ${column} = ?1`).bind(id).run();
    }
    const read = async () => (await callEdge("GET", "/v1/models/uncounted")).json.versions[0];
    expect((await read()).variants).toMatchObject([{ summary: null }, { summary: null }]);
    await vi.waitFor(
      async () => expect((await read()).variants).toMatchObject([{ summary }, { name: "other", summary }]),
      BOUND,
    );
    expect((await read()).summary).toEqual(summary);
  });

  it("stay as they are where they would be refused today, or are gone", async () => {
    const { id } = (await upload("refused", variantOf(cartpole, 21))).json.version;
    const digest = `sha256:${"f".repeat(64)}`;
    await env.DB.prepare("update model_versions set summary = null, digest = ?2 where id = ?1").bind(id, digest).run();
    for (let reading = 0; reading < 3; reading++) {
      const reply = await callEdge("GET", "/v1/models/refused");
      expect([reply.status, reply.json.versions[0].summary]).toEqual([200, null]);
    }
  });
});

describe("more than a database statement has parameters for", () => {
  it("versions of a model have their placements listed", async () => {
    const { id } = (await upload("often", cartpole)).json.model;
    const versions = Array.from({ length: 150 }, (_, i) => [
      `ver_${String(i).padStart(26, "0")}`,
      id,
      i + 2,
      `sha256:${i}`,
    ]);
    await env.DB.prepare(
      `insert into model_versions (id, model_id, version, digest, size_bytes, inputs, outputs, created_at_ms)
       select value->>0, value->>1, value->>2, value->>3, 1, '[]', '[]', 0 from json_each(?1)`,
    )
      .bind(JSON.stringify(versions))
      .run();
    expect((await callEdge("GET", "/v1/models/often/placements")).json).toMatchObject({ items: [] });
  });

  it("models fit on one page", async () => {
    const rows = Array.from({ length: 150 }, (_, i) => [`mdl_${String(i).padStart(26, "0")}`, `many-${i}`]);
    await env.DB.prepare(
      "insert into models (id, project, name, created_at_ms) select value->>0, 'main', value->>1, 0 from json_each(?1)",
    )
      .bind(JSON.stringify(rows))
      .run();
    const page = await callEdge("GET", "/v1/models?limit=200");
    expect(page.status).toBe(200);
    expect(page.json.items.length).toBeGreaterThan(150);
    const found = page.json.items.find(({ name }: { name: string }) => name === "lenet5");
    expect(found.versions).toHaveLength(2);
  });
});
