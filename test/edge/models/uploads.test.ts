import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { tendHistory } from "../../../src/edge/history/tend-history.ts";
import { deleteUnnamed, digestOf } from "../../../src/edge/store/artifact-store.ts";
import { openDatabase, openProject } from "../../../src/edge/store/database.ts";
import { readVersionsOfDigest } from "../../../src/edge/store/models/model-store.ts";
import { joinParts, pruneUploads, putPart as putLate } from "../../../src/edge/store/models/upload-store.ts";
import { DEFAULT_QUOTAS } from "../../../src/edge/store/quotas/default-quotas.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import {
  callEdge,
  countStored,
  createProject,
  fetchEdge,
  pointersOf,
  problemOf,
  registerRunner,
  type Sent,
} from "../stack/edge-client.ts";
import { writeExternalModel } from "../stack/external-model.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { cartpole } from "../stack/zoo.ts";

const OCTETS = { "content-type": "application/octet-stream" };
const ROWS = 262_144;
/** 9 MiB: two parts. */
const weights = new Uint8Array(9 * ROWS * 4).fill(1);
const model = writeExternalModel([
  { name: "w", dims: [ROWS, 9], external: { location: "weights.bin", length: String(weights.byteLength) } },
]);
let [weightsDigest, modelDigest] = ["", ""];
beforeAll(async () => {
  [weightsDigest, modelDigest] = [await digestOf(weights.buffer), await digestOf(model.buffer)];
});

const begin = (digest: string, sizeBytes: number, sent: Sent = {}) =>
  callEdge("POST", "/v1/uploads", { ...sent, body: { digest, sizeBytes } });

async function putPart(digest: string, number: number, part: Uint8Array<ArrayBuffer>, sent: Sent = {}) {
  const partDigest = await digestOf(part.slice().buffer);
  return callEdge("PUT", `/v1/uploads/${digest}/parts/${number}?digest=${partDigest}`, {
    ...sent,
    body: part,
    headers: { ...OCTETS, "content-length": String(part.byteLength) },
  });
}

async function send(bytes: Uint8Array<ArrayBuffer>, sent: Sent = {}) {
  const digest = await digestOf(bytes.buffer);
  const { missing, partBytes } = (await begin(digest, bytes.byteLength, sent)).json;
  for (const number of missing) {
    const part = bytes.slice((number - 1) * partBytes, number * partBytes);
    expect((await putPart(digest, number, part, sent)).status).toBe(204);
  }
  return begin(digest, bytes.byteLength, sent);
}

const addModel = (name: string, files: unknown, sent: Sent = {}) =>
  callEdge("POST", `/v1/models/files?name=${name}`, { ...sent, body: files });

/** The database, with the plans of what is asked of it. */
function explainPlans() {
  const asked: string[] = [];
  const prepare = (query: string) => {
    asked.push(query);
    return env.DB.prepare(query);
  };
  const binding = new Proxy(env.DB, {
    get: (target, name) => (name === "prepare" ? prepare : Reflect.get(target, name)),
  });
  const plans = async () => {
    const found = await Promise.all(
      asked.map((query) => {
        // Their values do not change a plan, but each needs one.
        const count = query.match(/\?(?!\d)/g)?.length ?? 1;
        const values = Array.from({ length: count }, () => "[]");
        return env.DB.prepare(`explain query plan ${query}`)
          .bind(...values)
          .all<{ detail: string }>();
      }),
    );
    return found.flatMap(({ results }) => results.map(({ detail }) => detail));
  };
  return { binding, plans };
}

const listParts = async () => (await env.ARTIFACTS.list({ prefix: "uploads/" })).objects.map(({ key }) => key);

describe("a file in parts", () => {
  it("goes on where it ended, is stored once it is whole, and leaves no parts", async () => {
    const size = weights.byteLength;
    const begun = await begin(weightsDigest, size);
    expect(begun.status).toBe(200);
    const stand = { digest: weightsDigest, sizeBytes: size, partBytes: LIMITS.uploadPartBytes };
    expect(begun.json).toEqual({ ...stand, state: "open", missing: [1, 2] });
    await putPart(weightsDigest, 2, weights.slice(LIMITS.uploadPartBytes));
    expect((await begin(weightsDigest, size)).json).toEqual({ ...stand, state: "open", missing: [1] });
    await putPart(weightsDigest, 1, weights.slice(0, LIMITS.uploadPartBytes));
    expect(await listParts()).toHaveLength(2);
    expect((await begin(weightsDigest, size)).json).toEqual({ ...stand, state: "stored", missing: [] });
    expect(await listParts()).toEqual([]);
    expect((await begin(weightsDigest, size)).json.state).toBe("stored");
  });

  it("is checked as a whole, and its parts are deleted where they are another file", async () => {
    const other = `sha256:${"1".repeat(64)}`;
    await begin(other, 100);
    await putPart(other, 1, new Uint8Array(100));
    const ended = await begin(other, 100);
    expect(problemOf(ended).code).toBe("invalid-request");
    expect(pointersOf(ended)).toEqual(["#/digest"]);
    expect((await begin(other, 100)).json).toMatchObject({ state: "open", missing: [1] });
    expect(await listParts()).toEqual([]);
  });

  it("names what is wrong with a part", async () => {
    const digest = `sha256:${"2".repeat(64)}`;
    const part = new Uint8Array(10);
    expect(problemOf(await putPart(digest, 1, part)).code).toBe("not-found");
    await begin(digest, 10);
    expect(pointersOf(await putPart(digest, 2, part))).toEqual(["path/number"]);
    const more = await callEdge("PUT", `/v1/uploads/${digest}/parts/1?digest=${digest}&more=1`, {
      body: part,
      headers: { ...OCTETS, "content-length": "10" },
    });
    expect(pointersOf(more)).toEqual(["query/more"]);
    expect(pointersOf(await putPart(digest, 1, part.slice(1)))).toEqual(["#"]);
    const damaged = await callEdge("PUT", `/v1/uploads/${digest}/parts/1?digest=${weightsDigest}`, {
      body: part,
      headers: { ...OCTETS, "content-length": "10" },
    });
    expect(pointersOf(damaged)).toEqual(["#"]);
    expect(pointersOf(await begin(digest, 11))).toEqual(["#/sizeBytes"]);
    expect(pointersOf(await begin("sha256:1", 0))).toEqual(["#/digest", "#/sizeBytes"]);
    expect(pointersOf(await begin(digest, LIMITS.largeModelBytes + 1))).toEqual(["#/sizeBytes"]);
    expect(await listParts()).toEqual([]);
  });

  it("has its size in what is wrong with another", async () => {
    await send(weights);
    const other = await begin(weightsDigest, 11);
    expect(problemOf(other).errors).toEqual([
      { pointer: "#/sizeBytes", message: `is 11, and the file of this digest has ${weights.byteLength} bytes` },
    ]);
  });

  it("is not taken for another file where a part goes while it is joined", async () => {
    const digest = `sha256:${"4".repeat(64)}`;
    const sizeBytes = LIMITS.uploadPartBytes + 1;
    await begin(digest, sizeBytes);
    await putPart(digest, 1, new Uint8Array(LIMITS.uploadPartBytes));
    const upload = { digest, sizeBytes, isStored: false };
    const storage = { DB: env.DB, ARTIFACTS: env.ARTIFACTS, project: "main" };
    expect(await joinParts(storage, openProject(storage), upload, 2, Date.now())).toBe("incomplete");
    expect((await begin(digest, sizeBytes)).json).toMatchObject({ state: "open", missing: [2] });
    await pruneUploads(env.DB, env.ARTIFACTS, Date.now() + 60_000);
  });

  it("takes no part once it is stored or gone", async () => {
    const bytes = new Uint8Array(48).fill(4);
    const { digest } = (await send(bytes)).json;
    expect((await putPart(digest, 1, bytes)).status).toBe(204);
    expect(await listParts()).toEqual([]);
    // One that arrives while another request ends the upload.
    const storage = { DB: env.DB, ARTIFACTS: env.ARTIFACTS, project: "main" };
    for (const ended of [digest, `sha256:${"5".repeat(64)}`]) {
      await putLate(storage, { digest: ended, number: 1, partDigest: digest }, new Blob([bytes]).stream());
      expect(await listParts()).toEqual([]);
    }
  });

  it("can be sent again where a model names it and the bucket has lost it", async () => {
    await Promise.all([send(weights), send(model)]);
    await addModel("lost", { model: modelDigest, data: { "weights.bin": weightsDigest } });
    await env.ARTIFACTS.delete(`artifacts/${weightsDigest.replace(":", "/")}`);
    expect((await begin(weightsDigest, weights.byteLength)).json).toMatchObject({ state: "open", missing: [1, 2] });
    expect((await send(weights)).json.state).toBe("stored");
    await env.ARTIFACTS.delete(`artifacts/${weightsDigest.replace(":", "/")}`);
    expect((await begin(weightsDigest, weights.byteLength)).json.state).toBe("open");
    expect((await send(weights)).json.state).toBe("stored");
  });

  it("ends a day after its last part, with what is stored of it", async () => {
    const bytes = new Uint8Array(64).fill(3);
    const open = `sha256:${"3".repeat(64)}`;
    const { digest } = (await send(bytes)).json;
    await begin(open, 10);
    await putPart(open, 1, new Uint8Array(10));
    const isStored = async () => (await env.ARTIFACTS.head(`artifacts/${digest.replace(":", "/")}`)) !== null;
    await pruneUploads(env.DB, env.ARTIFACTS, Date.now() - LIMITS.uploadMs);
    expect([await isStored(), await listParts()]).toEqual([true, [expect.stringContaining("3333")]]);
    await pruneUploads(env.DB, env.ARTIFACTS, Date.now() + 60_000);
    expect([await isStored(), await listParts()]).toEqual([false, []]);
    expect((await begin(digest, 64)).json).toMatchObject({ state: "open", missing: [1] });
  });

  it("ends in any minute, and no longer counts once its day is over", async () => {
    const { secret: key } = await createProject("sleeper");
    await env.DB.prepare(
      `insert into uploads (project, digest, size_bytes, touched_at_ms)
       with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
       select 'sleeper', 'sha256:' || i, ?2, i from n`,
    )
      .bind(DEFAULT_QUOTAS.uploads, LIMITS.largeModelBytes)
      .run();
    expect((await begin(`sha256:${"6".repeat(64)}`, 10, { key })).status).toBe(200);
    const count = () =>
      env.DB.prepare("select count(*) as n from uploads where project = 'sleeper'").first<number>("n");
    const hourMs = 3_600_000;
    await tendHistory(env, Math.floor(Date.now() / hourMs) * hourMs + hourMs / 2);
    expect(await count()).toBeLessThan(DEFAULT_QUOTAS.uploads);
    await env.DB.prepare("delete from uploads where project = 'sleeper'").run();
  });

  it("counts once, however many versions name it", async () => {
    const { secret: key } = await createProject("versions");
    const files = [{ name: "model.onnx", digest: `sha256:${"7".repeat(64)}`, sizeBytes: LIMITS.largeModelBytes }];
    await env.DB.batch([
      env.DB.prepare(
        "insert into models (id, project, name, created_at_ms) values ('mdl_many', 'versions', 'many', 1)",
      ),
      env.DB.prepare(
        `insert into model_versions (id, model_id, version, digest, size_bytes, inputs, outputs, files, created_at_ms)
         with recursive n(i) as (select 1 union all select i + 1 from n where i < 40)
         select 'ver_many' || i, 'mdl_many', i, 'sha256:many' || i, ?1, '[]', '[]', ?2, 1 from n`,
      ).bind(LIMITS.largeModelBytes, JSON.stringify(files)),
    ]);
    expect((await begin(`sha256:${"8".repeat(64)}`, 10, { key })).status).toBe(200);
    await env.DB.batch([
      env.DB.prepare("delete from model_versions where model_id = 'mdl_many'"),
      env.DB.prepare("delete from models where id = 'mdl_many'"),
    ]);
  });

  it("is one of a project's: their number and bytes have a limit, and others do not see it", async () => {
    const { secret: key } = await createProject("uploader");
    const digestAt = (index: number) => `sha256:${String(index).padStart(64, "0")}`;
    const { largeModelBytes } = LIMITS;
    for (let index = 0; index < Math.floor(DEFAULT_QUOTAS.storedBytes / largeModelBytes); index++) {
      expect((await begin(digestAt(index), largeModelBytes, { key })).status).toBe(200);
    }
    expect(problemOf(await begin(digestAt(99), largeModelBytes, { key })).quota?.name).toBe("storedBytes");
    expect((await begin(digestAt(0), largeModelBytes, { key })).status).toBe(200);
    const { digest } = (await send(new Uint8Array(32).fill(5))).json;
    expect((await begin(digest, 32, { key })).json.state).toBe("open");
    expect(pointersOf(await addModel("theirs", { model: digest }, { key }))).toEqual(["#/model"]);
  });
});

describe("a model of uploaded files", () => {
  const files = () => ({ model: modelDigest, data: { "weights.bin": weightsDigest } });

  it("is surveyed without its weights, and says which backends can have it", async () => {
    await Promise.all([send(weights), send(model)]);
    const added = await addModel("large", files());
    expect(added.status).toBe(201);
    const { version } = added.json;
    expect(version).toMatchObject({
      sizeBytes: weights.byteLength + model.byteLength,
      inputs: [{ name: "x", dtype: "float32", shape: [-1, ROWS] }],
      outputs: [{ name: "y", shape: [-1, 9] }],
      edgeParameters: null,
      summary: { parameters: ROWS * 9, weightBytes: weights.byteLength },
      files: [
        { name: "model.onnx", digest: modelDigest, sizeBytes: model.byteLength },
        { name: "weights.bin", digest: weightsDigest, sizeBytes: weights.byteLength },
      ],
    });
    const reasons = Object.fromEntries(
      version.backends.map(({ backend, reason }: { backend: string; reason: string | null }) => [backend, reason]),
    );
    expect(reasons).toMatchObject({ "ort-cpu": null, wgsl: expect.stringContaining(String(LIMITS.modelBytes)) });
    expect(reasons["edge-wasm"]).toContain(String(LIMITS.modelBytes));
    const again = await addModel("large", files());
    expect([again.status, again.json.version.id]).toEqual([200, version.id]);
    // Its files are the model's now: no upload ends with them.
    await pruneUploads(env.DB, env.ARTIFACTS, Date.now() + 60_000);
    expect((await begin(weightsDigest, weights.byteLength)).json.state).toBe("stored");
  });

  it("is read by the runner that calibrates it, in ranges", async () => {
    const runner = await registerRunner();
    const scripted = await ScriptedRunner.online(runner);
    const offer = await scripted.next("offer");
    const [variant] = offer.model!.variants;
    expect(variant!.files).toMatchObject([{ name: "model.onnx" }, { name: "weights.bin", digest: weightsDigest }]);
    const part = await fetchEdge("GET", `/v1/artifacts/${weightsDigest}`, {
      key: runner.credential,
      headers: { range: `bytes=${weights.byteLength - 100}-` },
    });
    expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 100]);
    const stranger = await registerRunner();
    const refused = await callEdge("GET", `/v1/artifacts/${weightsDigest}`, { key: stranger.credential });
    expect(problemOf(refused).code).toBe("not-found");
  });

  it("is as one that was sent at once where its file is small", async () => {
    const small = new Uint8Array(cartpole);
    await send(small);
    const added = await addModel("small", { model: await digestOf(small.buffer) });
    const [{ files: none, edgeParameters }] = added.json.model.versions;
    expect([added.status, none, edgeParameters]).toEqual([201, [], expect.any(Number)]);
    const sent = await callEdge("POST", "/v1/models?name=small", { body: small, headers: OCTETS });
    expect([sent.status, sent.json.version]).toEqual([200, added.json.version]);
  });

  it("leaves no parts that were sent of a file that came another way", async () => {
    const small = new Uint8Array(cartpole);
    const digest = await digestOf(small.buffer);
    const key = (await createProject("twice")).secret;
    await begin(digest, small.byteLength, { key });
    await putPart(digest, 1, small, { key });
    await callEdge("POST", "/v1/models?name=twice", { key, body: small, headers: OCTETS });
    expect(await listParts()).toHaveLength(1);
    expect((await addModel("twice", { model: digest }, { key })).status).toBe(200);
    expect(await listParts()).toEqual([]);
  });

  it("is found by any of its files without a scan of all versions", async () => {
    await Promise.all([send(weights), send(model)]);
    const { version } = (await addModel("found", files())).json;
    const { binding, plans } = explainPlans();
    expect(await readVersionsOfDigest(openDatabase(binding), weightsDigest)).toContain(version.id);
    expect(await readVersionsOfDigest(openDatabase(binding), version.digest)).toEqual(
      expect.arrayContaining([version.id]),
    );
    const scans = (await plans()).filter((step) => step.startsWith("SCAN model_versions"));
    expect(scans).toEqual(["SCAN model_versions USING INDEX model_versions_with_files"]);
  });

  it("keeps its files by one look at those of all versions", async () => {
    await Promise.all([send(weights), send(model)]);
    await addModel("kept", files());
    const { binding, plans } = explainPlans();
    await deleteUnnamed(binding, env.ARTIFACTS, [weightsDigest, modelDigest]);
    expect((await begin(weightsDigest, weights.byteLength)).json.state).toBe("stored");
    const steps = await plans();
    expect(steps.filter((step) => step.startsWith("SCAN model_versions"))).toEqual([
      "SCAN model_versions USING INDEX model_versions_with_files",
    ]);
    expect(steps).toContainEqual(expect.stringMatching(/^LIST SUBQUERY/));
  });

  it("lists 32 of its errors at most", async () => {
    const data = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`${index}~`, `sha256:${"9".repeat(64)}`]),
    );
    const refused = await addModel("many", { model: modelDigest, data });
    expect(pointersOf(refused)).toHaveLength(LIMITS.modelProblems);
    expect(pointersOf(refused)[0]).toBe("#/data/0~0");
  });

  it.each([
    [
      "names a file that was not uploaded",
      () => ({ ...files(), data: { "weights.bin": `sha256:${"9".repeat(64)}` } }),
      "#/data/weights.bin",
    ],
    ["names a folder", () => ({ ...files(), data: { "../weights.bin": weightsDigest } }), "#/data/..~1weights.bin"],
    ["names the model's own file", () => ({ ...files(), data: { "model.onnx": weightsDigest } }), "#/data/model.onnx"],
    ["lacks a file", () => ({ model: modelDigest }), "#"],
    ["has a file too many", () => ({ ...files(), data: { ...files().data, more: weightsDigest } }), "#/data/more"],
    [
      "has a file too many with a ~",
      () => ({ ...files(), data: { ...files().data, "a~b": weightsDigest } }),
      "#/data/a~0b",
    ],
    ["has an unknown field", () => ({ ...files(), more: 1 }), "#/more"],
    ["is no model", () => ({ model: weightsDigest }), "#"],
  ])("is refused where it %s, and leaves nothing", async (_, body, pointer) => {
    await Promise.all([send(weights), send(model)]);
    const before = await countStored();
    expect(pointersOf(await addModel("refused", body()))).toEqual([pointer]);
    expect(await countStored()).toEqual(before);
  });
});
