import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { writeOnnxMlp } from "../../../models/onnx-mlp-writer.ts";
import type { CompressionResult } from "../../../src/protocol/jobs/compression.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import type { Offer } from "../../../src/protocol/link.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import { hasArtifact } from "../../../src/edge/store/artifact-store.ts";
import { compressionResult, dataFile } from "../stack/compression-samples.ts";
import {
  callEdge,
  countStored,
  fetchEdge,
  pointersOf,
  problemOf,
  type RegisteredRunner,
} from "../stack/edge-client.ts";
import { newRunner, readJob } from "../stack/queue-client.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";

const octets = { "content-type": "application/octet-stream" };
const int8 = { method: "int8" };
const layer = (units: number) => ({ kind: "dense", units });

let runner: RegisteredRunner;
let scripted: ScriptedRunner;
let name: string;
let versionId: string;
let models = 0;
beforeEach(async () => {
  runner = await newRunner();
  scripted = await ScriptedRunner.online(runner);
  name = `compressed-${models++}`;
  versionId = (await callEdge("POST", `/v1/models?name=${name}`, { body: network(), headers: octets })).json.version.id;
});

/** A network with this many inputs; another `weight` is another file. */
function network(inputs = 4, weight = 0.5 + models): Uint8Array<ArrayBuffer> {
  const weights = new Float32Array(inputs * 2).fill(weight);
  const layers = [{ inputs, outputs: 2, weights, bias: new Float32Array(2) }];
  return writeOnnxMlp({ name: "balance", input: "observation", output: "logits", layers });
}

async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

const putData = (body: Uint8Array, path = `/v1/models/${name}/versions/1/data`) =>
  callEdge("PUT", path, { body, headers: octets });
/** For this test's runner alone: jobs of other tests may wait for any runner. */
const compress = (body: object = {}) =>
  callEdge("POST", `/v1/models/${name}/variants`, { body: { recipe: int8, runnerId: runner.runnerId, ...body } });
const readVersion = async () => (await callEdge("GET", `/v1/models/${name}`)).json.versions[0];

/** The next offer of a compression, or of another job that is wanted; all before it fail. */
async function nextOffer(isWanted = ({ kind }: Offer["spec"]) => kind === "compression"): Promise<Offer> {
  for (;;) {
    const offer = await scripted.next("offer");
    if (isWanted(offer.spec)) return offer;
    const problem = createProblem("backend-failed", "It is not of this test.");
    scripted.send({ type: "jobOutcome", lease: offer.lease, outcome: { ok: false, problem } });
    await scripted.next("jobSettled");
  }
}

async function leaveFile({ lease }: Offer, bytes: Uint8Array<ArrayBuffer>): Promise<CompressionResult["file"]> {
  const query = new URLSearchParams({ epoch: String(lease.epoch), digest: await digestOf(bytes) });
  const path = `/v1/link/jobs/${lease.jobId}/artifacts/variant?${query.toString()}`;
  const headers = { ...octets, "content-length": String(bytes.byteLength) };
  return (await callEdge("PUT", path, { key: runner.credential, body: bytes, headers })).json;
}

/** Makes a variant as a runner would, of this file. */
async function make(bytes: Uint8Array<ArrayBuffer>, changes: Partial<CompressionResult> = {}, asked: object = {}) {
  expect((await compress(asked)).status).toBe(202);
  const offer = await nextOffer();
  if (offer.spec.kind !== "compression") throw new Error("no compression was offered");
  const file = await leaveFile(offer, bytes);
  const result = compressionResult({ modelVersionId: versionId, variant: offer.spec.name, file, ...changes });
  scripted.succeed(offer, result);
  await scripted.next("jobSettled");
  return readJob(offer.lease.jobId);
}

describe("the data of a version", () => {
  it("are shown with it, and replaced by later ones, whose bytes alone are kept", async () => {
    expect((await readVersion()).data).toBeNull();
    const first = dataFile();
    const reply = await putData(first);
    expect(reply.status).toBe(200);
    expect(reply.json.data).toEqual({
      digest: await digestOf(first),
      sizeBytes: first.byteLength,
      rows: 12,
      metric: "accuracy",
    });
    expect((await putData(first)).json).toEqual(reply.json);
    const second = dataFile({ rows: 20 });
    expect((await putData(second)).json.data).toMatchObject({ rows: 20 });
    expect(await hasArtifact(env.ARTIFACTS, await digestOf(second))).toBe(true);
    expect(await hasArtifact(env.ARTIFACTS, await digestOf(first))).toBe(false);
  });

  it.each([
    ["other inputs", dataFile({ inputs: 5 }), "#/input.observation"],
    ["an input by another name", dataFile({ input: "image" }), "#/input.observation"],
    ["a baseline of another form", dataFile({ outputs: 3 }), "#/baseline"],
    ["too few rows", dataFile({ rows: LIMITS.minHeldOutRows - 1 }), "#/target"],
    ["classes that the network does not score", dataFile({ labels: Array.from({ length: 12 }, () => 2) }), "#/target"],
    ["a metric that there is not", dataFile({ metric: "charm" }), "#/metric"],
    ["anything else", new TextEncoder().encode("no safetensors at all"), "#"],
  ])("are refused with %s, and nothing is kept", async (_, file, pointer) => {
    const before = await countStored();
    const reply = await putData(file);
    expect(reply.status).toBe(400);
    expect(pointersOf(reply)).toContain(pointer);
    expect(await countStored()).toEqual(before);
  });

  it("are not replaced while a compression is to be measured on them", async () => {
    const first = dataFile();
    await putData(first);
    const { id } = (await compress()).json;
    const problem = problemOf(await putData(dataFile({ rows: 20 })));
    expect(problem.code).toBe("conflict");
    expect(problem.detail).toContain(id);
    expect((await putData(first)).status).toBe(200);
    await callEdge("POST", `/v1/jobs/${id}/cancel`);
    expect((await putData(dataFile({ rows: 20 }))).json.data).toMatchObject({ rows: 20 });
  });

  it("are refused where they are too large, and of a version that there is not", async () => {
    expect(problemOf(await putData(new Uint8Array(LIMITS.heldOutBytes + 1))).code).toBe("payload-too-large");
    expect(problemOf(await putData(dataFile(), `/v1/models/${name}/versions/2/data`)).code).toBe("not-found");
    expect(problemOf(await putData(dataFile(), "/v1/models/nobody/versions/1/data")).code).toBe("not-found");
  });
});

describe("a compression that is asked for", () => {
  it("is a job with its defaults, the file that it begins with and the version's data", async () => {
    const { data } = (await putData(dataFile())).json;
    const { status, json, headers } = await compress({ recipe: { method: "int4" } });
    expect(status).toBe(202);
    expect(headers.get("location")).toBe(`/v1/jobs/${json.id}`);
    expect(json.spec).toMatchObject({
      kind: "compression",
      model: name,
      version: 1,
      modelVersionId: versionId,
      digest: await digestOf(network()),
      name: "int4-g32",
      recipe: { method: "int4", blockSize: 32 },
      data,
    });
    const { runnerId } = runner;
    const again = await callEdge("POST", "/v1/jobs", {
      body: { kind: "compression", model: name, runnerId, recipe: { method: "low-rank", energy: 0.995 } },
    });
    expect(again.json.spec).toMatchObject({ name: "low-rank-99.5", modelVersionId: versionId });
  });

  it("lets its runner, and no other, read the file and the data", async () => {
    await putData(dataFile());
    await compress();
    const { spec } = await nextOffer();
    if (spec.kind !== "compression") throw new Error("no compression was offered");
    const stranger = await newRunner();
    for (const digest of [spec.digest, spec.data!.digest]) {
      const read = (key: string) => fetchEdge("GET", `/v1/artifacts/${digest}`, { key });
      expect((await read(runner.credential)).status).toBe(200);
      expect((await read(stranger.credential)).status).toBe(404);
    }
  });

  it.each([
    ["no recipe", { recipe: undefined }, "#/recipe"],
    ["a method that there is not", { recipe: { method: "hope" } }, "#/recipe/method"],
    ["a field that the method has not", { recipe: { method: "fp16", rank: 2 } }, "#/recipe/rank"],
    ["two wishes at once", { recipe: { method: "low-rank", rank: 2, energy: 0.9 } }, "#/recipe/energy"],
    [
      "weights and channels at once",
      { recipe: { method: "pruned", sparsity: 0.5, channels: 0.5 } },
      "#/recipe/sparsity",
    ],
    ["neither of them", { recipe: { method: "pruned" } }, "#/recipe/sparsity"],
    ["all channels", { recipe: { method: "pruned", channels: 1 } }, "#/recipe/channels"],
    ["a sparsity of everything", { recipe: { method: "pruned", sparsity: 1 } }, "#/recipe/sparsity"],
    ["another group of weights", { recipe: { method: "int4", blockSize: 64 } }, "#/recipe/blockSize"],
    [
      "too many rows to calibrate on",
      { recipe: { ...int8, activations: "static", calibrationRows: LIMITS.calibrationRows + 1 } },
      "#/recipe/calibrationRows",
    ],
    ["too large a rank", { recipe: { method: "low-rank", rank: LIMITS.recipeRank + 1 } }, "#/recipe/rank"],
    ["a student without layers", { recipe: { method: "distilled", student: [] } }, "#/recipe/student"],
    [
      "too many layers of a student",
      { recipe: { method: "distilled", student: Array.from({ length: LIMITS.studentLayers + 1 }, () => layer(1)) } },
      "#/recipe/student",
    ],
    [
      "too wide a student",
      { recipe: { method: "distilled", student: [layer(LIMITS.studentWidth + 1)] } },
      "#/recipe/student/0/units",
    ],
    [
      "too many epochs",
      { recipe: { method: "distilled", student: [layer(1)], epochs: LIMITS.studentEpochs + 1 } },
      "#/recipe/epochs",
    ],
    [
      "too many lessons",
      { recipe: { method: "distilled", student: [layer(1)], lessonRows: LIMITS.lessonRows + 1 } },
      "#/recipe/lessonRows",
    ],
    ["too long a time", { timeoutMs: LIMITS.compressionMs + 1 }, "#/timeoutMs"],
    ["a version that there is not", { version: 2 }, "#/version"],
    ["the name of the version's own file", { name: "fp32" }, "#/name"],
    ["the name of what the edge makes", { name: "edge-int8" }, "#/name"],
    ["a field that there is not", { patience: 3 }, "#/patience"],
  ])("is refused with %s", async (_, changes, pointer) => {
    expect(pointersOf(await compress(changes))).toEqual([pointer]);
  });

  it("is refused where an upload or another recipe has its name", async () => {
    const upload = `/v1/models/${name}/versions/1/variants?name=mine`;
    expect((await callEdge("POST", upload, { body: network(4, -1), headers: octets })).status).toBe(201);
    expect(pointersOf(await compress({ name: "mine" }))).toEqual(["#/name"]);
    await make(network(4, 9));
    expect(pointersOf(await compress({ name: "int8", recipe: { method: "fp16" } }))).toEqual(["#/name"]);
    expect((await compress({ name: "int8" })).status).toBe(202);
  });
});

describe("what a compression leaves", () => {
  it("becomes a variant that says how it was made, and is calibrated", async () => {
    const file = network(4, 7);
    const job = await make(file);
    expect(job).toMatchObject({ state: "succeeded", result: { publication: "published" } });
    expect((await readVersion()).variants[1]).toMatchObject({
      name: "int8",
      digest: await digestOf(file),
      sizeBytes: file.byteLength,
      fidelity: 0.9,
      summary: { parameters: 10 },
      measured: { value: 0.9 },
      recipe: { method: "int8", activations: "float" },
      jobId: job.id,
    });
    // Calibrations of other tests' models may come before it.
    const { model } = await nextOffer((spec) => spec.kind === "calibration" && spec.modelVersionId === versionId);
    expect(model?.variants.map((each) => each.name)).toEqual(["fp32", "int8"]);
  });

  it("is the same variant where it is made again, with what was measured last", async () => {
    await make(network(4, 7));
    const fidelity = { ...compressionResult({} as never).fidelity, value: 0.8 };
    const again = await make(network(4, 7), { fidelity });
    expect(again.result).toMatchObject({ publication: "published" });
    expect((await readVersion()).variants).toMatchObject([
      { name: "fp32" },
      { fidelity: 0.8, measured: { value: 0.8 }, jobId: again.id },
    ]);
  });

  it("is not published where it takes something else, or another file has the name by now", async () => {
    expect((await make(network(5, 7))).result).toMatchObject({ publication: "unusable" });
    await make(network(4, 7));
    expect((await make(network(4, 8))).result).toMatchObject({ publication: "taken" });
    expect((await readVersion()).variants).toMatchObject([{ name: "fp32" }, { digest: await digestOf(network(4, 7)) }]);
  });

  it("is no result of this job where the version or the recipe is another", async () => {
    const job = await make(network(4, 7), { recipe: { method: "fp16" } });
    expect(job).toMatchObject({ state: "failed", problem: { code: "backend-failed" } });
  });
});
