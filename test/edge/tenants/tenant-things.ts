import { expect, vi } from "vitest";
import { writeOnnxMlp } from "../../../models/onnx-mlp-writer.ts";
import { digestOf } from "../../../src/edge/store/artifact-store.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import type { Trace } from "../../../src/protocol/jobs/benchmark.ts";
import { dataFile } from "../stack/compression-samples.ts";
import { counter } from "../stack/environment-samples.ts";
import { callEdge, missingId, problemOf } from "../stack/edge-client.ts";
import { device, report } from "../stack/health-samples.ts";
import { competitor } from "../stack/kernel-samples.ts";
import { POPULATION_FILES } from "../stack/population-files.ts";
import { BOUND } from "../stack/runner-script.ts";
import { benchmarkResult, calibrationResult, distribution, tuningResult } from "../stack/samples.ts";
import { archiveResult, episodesOf, optimisationOf, validationOf } from "./tenant-results.ts";
import type { Tenant } from "./tenant.ts";
import { trainingInput, trainingResult } from "../stack/training-samples.ts";

/** Missing objects: an id or name for each kind. */
export const NOTHING = {
  ...missingId,
  offline: createId("runner"),
  modelVersion: createId("modelVersion"),
  model: "nobody-model",
  modelDigest: `sha256:${"0".repeat(64)}`,
  training: createId("job"),
  waiting: createId("job"),
  evaluation: createId("run"),
  validation: createId("run"),
  optimisation: createId("run"),
  report: createId("run"),
  kernelName: "nobody-kernel",
  environmentName: "nobody-environment",
  population: createId("population"),
  populationName: "nobody-population",
  memory: "nobody-memory",
  pool: "nobody-pool",
  profile: "nobody-profile",
  requirements: "nobody-requirements",
  subject: "nobody-subject",
  label: "nobody-label",
  baseline: "nobody-baseline",
};

/** One of each kind, by id or name. */
export type Things = Readonly<Record<keyof typeof NOTHING, string>>;

const AT = "2026-11-21T09:30:00.000Z";
const WEIGHT = 0.5;
export const TRIAD = { kind: "benchmark", kernel: "triad", shape: { n: 64 } } as const;

/** A network with four inputs and two actions; another `weight` is another file. */
export function networkFile(weight = WEIGHT): Uint8Array<ArrayBuffer> {
  const layers = [{ inputs: 4, outputs: 2, weights: new Float32Array(8).fill(weight), bias: new Float32Array(2) }];
  return writeOnnxMlp({ name: "balance", input: "observation", output: "logits", layers });
}

export const populationFile = Uint8Array.from(atob(POPULATION_FILES.npy), (character) => character.charCodeAt(0));
export const POPULATION_NETWORK = '{"hidden":[]}';

/** Creates one real object of each kind as the tenant, with `word` in their names; its runner does the jobs. */
export async function makeThings(tenant: Tenant, word: string): Promise<Things> {
  const model = await placeModel(tenant, `${word}-model`);
  await serve(tenant, model);
  const offline = await registerRunner(tenant, `${word}-offline`);
  return {
    ...NOTHING,
    ...model,
    runner: tenant.runner.runnerId,
    offline,
    ...(await storeByName(tenant, word)),
    ...(await benchmark(tenant, `${word}-label`)),
    ...(await competeWithKernel(tenant, `${word}-kernel`)),
    ...(await measureModel(tenant, model.model)),
    ...(await train(tenant)),
    ...(await keepHistory(tenant, word)),
    ...(await openAlert(tenant, word)),
    key: (await tenant.post("/v1/keys", { name: `${word}-key`, scopes: ["read"] })).id,
    waiting: (await tenant.post("/v1/jobs", { ...TRIAD, runnerId: offline })).id,
  };
}

/** A model with a variant and data, placed on the tenant's runner alone. */
async function placeModel(tenant: Tenant, name: string) {
  const file = networkFile();
  const { version } = await tenant.call("POST", `/v1/models?name=${name}`, { body: file });
  const { placements, ...result } = calibrationResult(version.id);
  await tenant.work("calibration", () => ({ result: { ...result, placements } }));
  await tenant.put(`/v1/models/${name}/placement`, { kind: "pinned", runnerIds: [tenant.runner.runnerId] });
  await tenant.call("POST", `/v1/models/${name}/versions/1/variants?name=int8`, { body: networkFile(WEIGHT / 2) });
  await tenant.put(`/v1/models/${name}/versions/1/data`, dataFile());
  const both = ["fp32", "int8"].flatMap((variant) => placements.map((placement) => ({ ...placement, variant })));
  await tenant.work("calibration", () => ({ result: { ...result, placements: both } }));
  const { items } = await tenant.get(`/v1/models/${name}/placements`);
  const placed = items.find(({ runnerId }: { runnerId: string }) => runnerId === tenant.runner.runnerId);
  return {
    model: name,
    modelVersion: version.id as string,
    modelDigest: await digestOf(file.slice().buffer),
    placement: placed.id as string,
  };
}

/** Lets the model answer once, and waits until that is in the history. */
async function serve(tenant: Tenant, { model, placement }: Pick<Things, "model" | "placement">): Promise<void> {
  const body = { model, placementId: placement, inputs: { observation: { data: [[1, 2, 3, 4]] } } };
  await vi.waitFor(async () => {
    const tooSoon = await callEdge("POST", "/v1/infer", { key: tenant.key, body: { ...body, budgetMs: 0.1 } });
    expect(problemOf(tooSoon).code).toBe("budget-unattainable");
  }, BOUND);
  const pending = tenant.post("/v1/infer", { ...body, budgetMs: 60_000 });
  const { offer } = await tenant.scripted.nextInfer();
  const bytes = new Uint8Array(Float32Array.of(1, 0).buffer);
  tenant.scripted.answer(offer, [{ name: "logits", dtype: "float32", shape: [1, 2], bytes }]);
  await pending;
  await vi.waitFor(async () => {
    const { items } = await tenant.get(`/v1/history/calibration?placement=${placement}`);
    expect(items).not.toEqual([]);
  }, BOUND);
}

/** A runner that never connects. */
async function registerRunner(tenant: Tenant, name: string): Promise<string> {
  const { token } = await tenant.post("/v1/runners/tokens");
  return (await tenant.post("/v1/runners", { token, name })).runnerId;
}

/** Objects that users store under names of their own. */
async function storeByName(tenant: Tenant, word: string) {
  const [memory, pool, profile, requirements] = ["memory", "pool", "profile", "requirements"].map(
    (kind) => `${word}-${kind}`,
  ) as [string, string, string, string];
  await tenant.post("/v1/item-memories", { name: memory, dimension: 2 });
  await tenant.post(`/v1/item-memories/${memory}/items`, { items: [{ key: `${word}-item`, vector: [1, 2] }] });
  await tenant.post("/v1/agent-pools", { name: pool, agents: 1, stateSize: 4 });
  await tenant.put(`/v1/agent-pools/${pool}/states`, new Uint8Array(new Float32Array([1, 2, 3, 4]).buffer), {
    "if-match": '"1"',
  });
  await tenant.post("/v1/profiles", { name: profile, description: "", requirements: {}, targets: {}, settings: {} });
  const required = [{ metric: "latencyMs", percentile: 0.5, atMost: 10 }];
  await tenant.post("/v1/requirements", { name: requirements, requirements: required });
  const environmentName = `${word}-environment`;
  const environment = (await tenant.post("/v1/environments", { ...counter, name: environmentName })).id as string;
  const populationName = `${word}-population`;
  const query = new URLSearchParams({ name: populationName, network: POPULATION_NETWORK });
  const uploaded = await tenant.call("POST", `/v1/populations?${query.toString()}`, { body: populationFile });
  return { memory, pool, profile, requirements, environment, environmentName, population: uploaded.id, populationName };
}

/** A run with its trace and samples, and a tuning. */
async function benchmark(tenant: Tenant, label: string) {
  const trace: Trace = {
    traceEvents: [],
    displayTimeUnit: "ms",
    otherData: { startedAt: AT, droppedEvents: 0, alignment: "none" },
  };
  const sampled = { subject: "triad", metric: "wallMs", unit: "ms", clock: "runner-wall", values: [1, 2, 3] };
  const files = { trace: JSON.stringify(trace), samples: JSON.stringify({ measurements: [sampled] }) };
  const run = await tenant.run({ ...TRIAD, label, trace: true }, () => ({ result: benchmarkResult(), ...files }));
  const { jobId } = await tenant.get(`/v1/runs/${run}`);
  await tenant.run({ kind: "tuning", kernel: "triad", shape: { n: 60 } }, () => ({ result: tuningResult() }));
  return { job: jobId as string, run, label, tuning: (await tenant.get("/v1/tunings")).items[0].id as string };
}

/** A checked kernel on the leaderboard of `triad`. */
async function competeWithKernel(tenant: Tenant, kernelName: string) {
  const kernel = (await tenant.post("/v1/kernels", { ...competitor, name: kernelName })).id as string;
  const wallMs = distribution(Array.from({ length: 50 }, (_, index) => 2 + index / 1_000));
  const result = { ...benchmarkResult(), kernel, variant: "submitted", wallMs };
  await tenant.work("benchmark", () => ({ result }));
  await tenant.run({ kind: "benchmark", kernel, shape: { n: 64 } }, () => ({ result }));
  return { kernel, kernelName };
}

/** A run of each kind that has plots of its own. */
async function measureModel(tenant: Tenant, model: string) {
  const subject = { kind: "model", model } as const;
  const validation = { kind: "validation", subject, scenarios: [{ kind: "singleStream" }], requirements: [] };
  const optimisation = { kind: "optimisation", subject, targets: { latencyMs: 10 } };
  const evaluation = { kind: "evaluation", environment: "balance", policies: [model], episodes: 2 };
  return {
    validation: await tenant.run(validation, (offer) => ({ result: validationOf(offer), deviceKey: "cpu" })),
    optimisation: await tenant.run(optimisation, (offer) => ({ result: optimisationOf(offer), deviceKey: "cpu" })),
    evaluation: await tenant.run(evaluation, async (offer) => ({ result: await episodesOf(tenant, offer) })),
  };
}

/** A training with an archive. */
async function train(tenant: Tenant) {
  const run = await tenant.run(trainingInput, async (offer) => {
    const { file, qualityDiversity } = archiveResult();
    await tenant.leave(offer, "archive", file);
    return { result: trainingResult({ qualityDiversity }), deviceKey: "cpu" };
  });
  const { jobId } = await tenant.get(`/v1/runs/${run}`);
  return { training: jobId as string, archive: (await tenant.get("/v1/archives")).items[0].id as string };
}

/** A report, its series, a threshold for it and a baseline. */
async function keepHistory(tenant: Tenant, word: string) {
  const [subject, baseline] = [`${word}-subject`, `${word}-baseline`];
  const reported = await tenant.post("/v1/history/points", reportOf(`${word}-report`, subject));
  const series = reported.series[0] as string;
  await tenant.put(`/v1/history/baselines/${baseline}`, { run: reported.run.id });
  const threshold = await tenant.post("/v1/history/thresholds", thresholdOf(`${word}-threshold`, subject));
  return { report: reported.run.id as string, subject, baseline, series, threshold: threshold.id as string };
}

export function reportOf(run: string, subject: string) {
  const measurement = { subject, metric: "wallMs", unit: "ms", configuration: { batch: 8 }, values: [1, 2, 3] };
  return { run, at: AT, measurements: [measurement] };
}

export function thresholdOf(name: string, subject: string) {
  return { name, selector: { subject }, test: "static", upper: 1_000, statistic: "mean" };
}

/** An alert of the runner, and a webhook that received it. */
async function openAlert(tenant: Tenant, word: string) {
  const { id: webhook } = await tenant.post("/v1/webhooks", { url: `https://${word}-hook.test/` });
  const { runnerId } = tenant.runner;
  const ill = { placements: [], devices: [device({ computeShare: 0.9, requests: 1_000, refused: 200 })] };
  for (let index = 0; index < 3; index++) {
    tenant.scripted.send({ type: "health", requestId: null, report: report(index, ill) });
  }
  const alert = await vi.waitFor(async () => {
    const { items } = await tenant.get(`/v1/history/alerts?runner=${runnerId}`);
    expect(items).toHaveLength(1);
    return items[0].id as string;
  }, BOUND);
  return { webhook: webhook as string, alert };
}
