import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { writeOnnxMlp } from "../../../models/onnx-mlp-writer.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import type { Offer } from "../../../src/protocol/link.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import { callEdge, fetchEdge, pointersOf, type RegisteredRunner } from "../stack/edge-client.ts";
import { newRunner, queueStub, readJob } from "../stack/queue-client.ts";
import { capabilities } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { balance, pictures, trainingInput, trainingResult } from "../stack/training-samples.ts";

let runner: RegisteredRunner;
let scripted: ScriptedRunner;
beforeEach(async () => {
  runner = await newRunner();
  scripted = await ScriptedRunner.connect(runner);
  scripted.send({ type: "hello", capabilities: { ...capabilities, environments: [balance, pictures] }, running: [] });
  await scripted.next("welcome");
});

let names = 0;
const freshName = () => `trained-${names++}`;
const submit = (changes: object = {}) => callEdge("POST", "/v1/jobs", { body: { ...trainingInput, ...changes } });

async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** A policy with this many inputs; another `weight` is another file. */
function policyFile(inputs = 4, weight = 0.5): Uint8Array<ArrayBuffer> {
  const layers = [
    { inputs, outputs: 2, weights: new Float32Array(inputs * 2).fill(weight), bias: new Float32Array(2) },
  ];
  return writeOnnxMlp({ name: "balance", input: "observation", output: "logits", layers });
}

/** The next offer of this kind, and of this version; other jobs fail, such as calibrations of earlier publications. */
async function nextOffer(kind: string, modelVersionId?: string): Promise<Offer> {
  for (;;) {
    const offer = await scripted.next("offer");
    const { spec } = offer;
    const isAbout =
      modelVersionId === undefined || ("modelVersionId" in spec && spec.modelVersionId === modelVersionId);
    if (spec.kind === kind && isAbout) return offer;
    const problem = createProblem("backend-failed", "It is not of this test.");
    scripted.send({ type: "jobOutcome", lease: offer.lease, outcome: { ok: false, problem } });
    await scripted.next("jobSettled");
  }
}

/** Takes the offer of a training that is to be published. */
async function takeOffer(model: string): Promise<Offer> {
  expect((await submit({ publish: { model } })).status).toBe(202);
  return nextOffer("training");
}

async function leavePolicy({ lease }: Offer, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const query = new URLSearchParams({ epoch: String(lease.epoch), digest: await digestOf(bytes) });
  const reply = await callEdge("PUT", `/v1/link/jobs/${lease.jobId}/artifacts/policy?${query.toString()}`, {
    key: runner.credential,
    body: bytes,
    headers: { "content-type": "application/octet-stream", "content-length": String(bytes.byteLength) },
  });
  expect(reply.status).toBe(200);
}

async function settle(offer: Offer, result = trainingResult()) {
  scripted.succeed(offer, result);
  await scripted.next("jobSettled");
  const ended = await readJob(offer.lease.jobId);
  expect(ended.problem).toBeNull();
  return ended;
}

const published = (model: string) => trainingResult({ published: { model, modelVersionId: null } });

describe("a training that is asked for", () => {
  it("has its defaults, and the environment as it is announced", async () => {
    const { status, json } = await submit();
    expect(status).toBe(202);
    expect(json.spec).toMatchObject({
      environment: "balance",
      generations: 100,
      episodes: 16,
      evaluation: { everyGenerations: 5, episodes: 100 },
      seed: 1,
      algorithm: { name: "openes", population: 8, sigma: 0.1, learningRate: 0.05 },
    });
  });

  it.each([
    ["an environment that nobody announces", { environment: "nowhere" }, "#/environment"],
    ["half a pair", { algorithm: { name: "pgpe", population: 7 } }, "#/algorithm/population"],
    ["an algorithm that there is not", { algorithm: { name: "hope" } }, "#/algorithm/name"],
    ["a step size of nothing", { algorithm: { name: "sep-cma-es", sigma: 0 } }, "#/algorithm/sigma"],
    ["weights for a graph", { network: { kind: "graph" } }, "#/network/kind"],
    ["a convolution of what is no picture", { network: { kind: "conv" } }, "#/network/kind"],
    ["anything else for pictures", { environment: "pictures" }, "#/network/kind"],
    [
      "a convolution that is too large",
      { environment: "pictures", network: { kind: "conv", hidden: 1_024 } },
      "#/network/hidden",
    ],
    [
      "too many first channels",
      { network: { kind: "conv", firstChannels: LIMITS.convFirstChannels + 1 } },
      "#/network/firstChannels",
    ],
    [
      "too many second channels",
      { network: { kind: "conv", secondChannels: LIMITS.convSecondChannels + 1 } },
      "#/network/secondChannels",
    ],
    [
      "a policy of pictures to publish, which has no file",
      { environment: "pictures", network: { kind: "conv" }, publish: { model: "seer" } },
      "#/publish",
    ],
    ["a network that is too large", { network: { kind: "mlp", hidden: [1_024, 1_024] } }, "#/network/hidden"],
    [
      "more episodes than there may be",
      { algorithm: { name: "openes", population: 2 ** 20 }, episodes: 32 },
      "#/episodes",
    ],
    ["a device that no runner has", { deviceKey: "gpu9" }, "#/deviceKey"],
    ["devices of which no runner has all", { devices: ["gpu0", "gpu9"] }, "#/devices"],
    ["no generation", { generations: 0 }, "#/generations"],
    ["too many generations", { generations: LIMITS.trainingGenerations + 1 }, "#/generations"],
    ["too long a time", { timeoutMs: LIMITS.trainingMs + 1 }, "#/timeoutMs"],
    ["a field that there is not", { patience: 3 }, "#/patience"],
  ])("is refused with %s", async (_, changes, pointer) => {
    expect(pointersOf(await submit(changes))).toEqual([pointer]);
  });

  it("is refused where its model has other inputs, and taken where it is alike", async () => {
    const name = freshName();
    const upload = (inputs: number) =>
      fetchEdge("POST", `/v1/models?name=${name}`, {
        body: policyFile(inputs),
        headers: { "content-type": "application/octet-stream" },
      });
    expect((await upload(5)).status).toBe(201);
    expect(pointersOf(await submit({ publish: { model: name } }))).toEqual(["#/publish/model"]);
    expect((await upload(4)).status).toBe(201);
    expect((await submit({ publish: { model: name } })).status).toBe(202);
  });
});

describe("a training that ended", () => {
  it("makes its policy a version of the model, with its card, to be measured like an upload", async () => {
    const model = freshName();
    const offer = await takeOffer(model);
    const bytes = policyFile();
    await leavePolicy(offer, bytes);
    const job = await settle(offer, published(model));
    const { json } = await callEdge("GET", `/v1/models/${model}`);
    const [version] = json.versions;
    expect(version).toMatchObject({
      version: 1,
      digest: await digestOf(bytes),
      inputs: [{ name: "observation", shape: [-1, 4] }],
      edgeParameters: 10,
      card: {
        environment: "balance",
        training: { jobId: job.id, algorithm: "openes", generations: 10, steps: 9_000, seed: 1 },
        scores: [{ runId: job.runId, episodes: 100, mean: { value: 488, low: 480, high: 496 } }],
      },
    });
    expect(job.result).toMatchObject({ published: { model, modelVersionId: version.id } });
    const run = (await callEdge("GET", `/v1/runs/${job.runId}`)).json;
    expect(run.result.published.modelVersionId).toBe(version.id);
    expect((await nextOffer("calibration", version.id)).attempt).toBe(1);
  });

  it("does so once, however often the result comes", async () => {
    const model = freshName();
    const offer = await takeOffer(model);
    await leavePolicy(offer, policyFile());
    const outcome = {
      type: "jobOutcome",
      lease: offer.lease,
      outcome: { ok: true, result: published(model), deviceKey: "cpu", startedAt: "2026-11-21T09:30:00.000Z" },
    } as const;
    await queueStub().settle(runner.runnerId, outcome);
    await env.DB.prepare("delete from runs where job_id = ?").bind(offer.lease.jobId).run();
    await queueStub().settle(runner.runnerId, outcome);
    expect((await callEdge("GET", `/v1/models/${model}`)).json.versions).toHaveLength(1);
  });

  it("gives an upload of the same bytes its card", async () => {
    const model = freshName();
    const upload = await fetchEdge("POST", `/v1/models?name=${model}`, {
      body: policyFile(),
      headers: { "content-type": "application/octet-stream" },
    });
    expect(await upload.json()).toMatchObject({ version: { card: null } });
    const offer = await takeOffer(model);
    await leavePolicy(offer, policyFile());
    await settle(offer, published(model));
    const { versions } = (await callEdge("GET", `/v1/models/${model}`)).json;
    expect(versions).toMatchObject([{ version: 1, card: { environment: "balance" } }]);
  });

  it.each([
    ["left no policy", null],
    ["left what is no model", new Uint8Array(new TextEncoder().encode("not a network"))],
  ])("counts where it %s", async (_, bytes) => {
    const model = freshName();
    const offer = await takeOffer(model);
    if (bytes !== null) await leavePolicy(offer, bytes);
    const job = await settle(offer, published(model));
    expect(job).toMatchObject({ state: "succeeded", result: { published: { model, modelVersionId: null } } });
    expect((await callEdge("GET", `/v1/models/${model}`)).status).toBe(404);
  });

  it("stands in the history of its environment", async () => {
    await submit();
    const job = await settle(await nextOffer("training"));
    const { items } = (await callEdge("GET", "/v1/history/series?subject=balance")).json;
    const metrics = items.map(({ metric, direction }: { metric: string; direction: string }) => [metric, direction]);
    expect(metrics.toSorted()).toEqual([
      ["generationsToSolve", "lower"],
      ["trainedReturn", "higher"],
      ["trainingStepsPerS", "higher"],
    ]);
    expect(items[0].configuration).toMatchObject({ algorithm: "openes", population: 8, backend: "cpu-simd" });
    expect(job.state).toBe("succeeded");
  });

  it("fails where the result is of another environment", async () => {
    await submit();
    const offer = await nextOffer("training");
    scripted.succeed(offer, trainingResult({ task: { name: "another", digest: null } }));
    await scripted.next("jobSettled");
    expect(await readJob(offer.lease.jobId)).toMatchObject({ state: "failed", problem: { code: "backend-failed" } });
  });
});

describe("the learning curve of a training", () => {
  it("is drawn with its judgements and its end", async () => {
    await submit({ stopAt: 475 });
    const { id } = await settle(await nextOffer("training"), trainingResult({ resumedFrom: 5 }));
    const reply = await fetchEdge("GET", `/v1/jobs/${id}/plots/learning.svg`);
    expect(reply.headers.get("content-type")).toBe("image/svg+xml; charset=utf-8");
    const svg = await reply.text();
    for (const text of [
      "balance by openes",
      "target 475",
      "solved 10",
      "generation 5: 250 on fresh episodes",
      "It went on from a checkpoint after 5 generations.",
      "The best policy has 488 (95 %: 480 to 496) over 100 fresh episodes",
    ]) {
      expect(svg).toContain(text);
    }
  });

  it("grows while it runs, and reports a generation once that a later attempt went through again", async () => {
    await submit();
    const { lease } = await nextOffer("training");
    for (const [generation, fresh] of [
      [1, 11],
      [2, 22],
      [2, 33],
    ]) {
      const point = { generation: generation!, steps: 100, best: 50, mean: 40, fresh: fresh! };
      const progress = { phase: "training", done: generation!, total: 100, point };
      scripted.send({ type: "jobProgress", lease, progress });
    }
    const read = async () => (await fetchEdge("GET", `/v1/jobs/${lease.jobId}/plots/learning.svg`)).text();
    await expect.poll(read).toContain("generation 2: 33 on fresh episodes");
    const svg = await read();
    expect(svg).toContain("generation 1: 11 on fresh episodes");
    expect(svg).not.toContain("generation 2: 22");
    expect(svg).not.toContain("The best policy");
  });

  it("is of trainings alone", async () => {
    await callEdge("POST", "/v1/jobs", { body: { kind: "benchmark", kernel: "triad", shape: { n: 64 } } });
    const offer = await nextOffer("benchmark");
    scripted.succeed(offer);
    await scripted.next("jobSettled");
    const reply = await callEdge("GET", endpoints.plotLearning.path.replace("{id}", offer.lease.jobId));
    expect([reply.status, reply.json.code]).toEqual([404, "not-found"]);
    expect(reply.json.detail).toContain("it is a benchmark");
  });
});
