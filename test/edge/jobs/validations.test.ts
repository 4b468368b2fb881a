import { beforeAll, describe, expect, it } from "vitest";
import type { Job } from "../../../src/protocol/jobs/job.ts";
import type { Placement } from "../../../src/protocol/models/model.ts";
import { DEFAULT_CONFIGURATION } from "../../../src/protocol/fleet/serving.ts";
import type { ValidationResult, ValidationSpec } from "../../../src/protocol/jobs/validation.ts";
import { storeResult } from "../../../src/edge/kinds/store-result.ts";
import type { z } from "zod";
import {
  callEdge,
  countStored,
  mainEnv,
  pointersOf,
  type RegisteredRunner,
  registerRunner,
} from "../stack/edge-client.ts";
import { answerValidation } from "../stack/job-answers.ts";
import { calibrationResult } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { cartpole } from "../stack/zoo.ts";

const scenarios = [{ kind: "singleStream", minDurationMs: 100 }];
const model = { kind: "model", model: "cartpole" };
const validation = { kind: "validation", subject: model, scenarios };
const submit = (changes: object = {}) => callEdge("POST", "/v1/jobs", { body: { ...validation, ...changes } });
const pointers = async (changes: object) => pointersOf(await submit(changes));
const readPlacement = async (): Promise<z.infer<typeof Placement>> =>
  (await callEdge("GET", "/v1/models/cartpole/placements")).json.items[0];

let runner: RegisteredRunner;
let scripted: ScriptedRunner;
let versionId = "";
let placementId = "";

async function calibrate(): Promise<void> {
  const offer = await scripted.next("offer");
  expect(offer.spec.kind).toBe("calibration");
  scripted.succeed(offer, calibrationResult(versionId));
  await scripted.next("jobSettled");
}

beforeAll(async () => {
  runner = await registerRunner();
  scripted = await ScriptedRunner.online(runner);
  const uploaded = await callEdge("POST", "/v1/models?name=cartpole", {
    body: cartpole,
    headers: { "content-type": "application/octet-stream" },
  });
  versionId = uploaded.json.version.id;
  await calibrate();
  placementId = (await readPlacement()).id;
  await callEdge("POST", "/v1/requirements", {
    body: { name: "quick", requirements: [{ metric: "latencyMs", percentile: 0.5, atMost: 10 }] },
  });
  await callEdge("POST", "/v1/requirements", {
    body: { name: "served", requirements: [{ metric: "latencyMs", scenario: "server", atMost: 10 }] },
  });
});

describe("a validation that is submitted", () => {
  it("is filled in with the placement that requests would get, and the requirements of its set", async () => {
    const { json, status } = await submit({ requirements: "quick", paths: ["runner", "edge"] });
    expect(status).toBe(202);
    expect(json.spec).toMatchObject({
      subject: { kind: "model", model: "cartpole@1", variant: "fp32", backend: "ort-cpu" },
      runnerId: runner.runnerId,
      deviceKey: "cpu",
      modelVersionId: versionId,
      placementId,
      fidelity: 1,
      configuration: DEFAULT_CONFIGURATION,
      requirementSet: "quick",
      requirements: [{ metric: "latencyMs", percentile: 0.5, atMost: 10 }],
      scenarios: [{ kind: "singleStream", percentile: 0.9 }],
    });
    const offer = await scripted.next("offer");
    expect(offer.model).toMatchObject({ modelVersionId: versionId, variants: [{ sizeBytes: cartpole.byteLength }] });
    await callEdge("POST", `/v1/jobs/${json.id}/cancel`);
  });

  it("names what is not there or would not be measured, and queues nothing", async () => {
    const before = await countStored();
    const required = (requirement: object) => ({ requirements: [{ atMost: 1, ...requirement }] });
    const kernel = { kind: "kernel", kernel: "triad" };
    const cases: [object, string[]][] = [
      [{ subject: { ...model, model: "nobody" } }, ["#/subject/model"]],
      [{ subject: { ...model, model: "cartpole@9" } }, ["#/subject/model"]],
      [{ subject: { ...model, variant: "int4" } }, ["#/subject/variant"]],
      [{ subject: { ...model, backend: "ort-webgpu" } }, ["#/subject/backend"]],
      [{ subject: { ...model, backend: "edge-wasm" } }, ["#/subject/backend"]],
      [{ deviceKey: "gpu0" }, ["#/deviceKey"]],
      [{ requirements: "nobodys" }, ["#/requirements"]],
      [{ requirements: "served" }, ["#/requirements"]],
      [required({ metric: "latencyMs", scenario: "server" }), ["#/requirements/0/scenario"]],
      [required({ metric: "latencyMs", scenario: "offline" }), ["#/requirements/0/scenario"]],
      [required({ metric: "latencyMs", path: "edge" }), ["#/requirements/0/path"]],
      [required({ metric: "startupMs", path: "runner" }), ["#/requirements/0/path"]],
      [required({ metric: "startupMs", scenario: "singleStream" }), ["#/requirements/0/scenario"]],
      [{ ...required({ metric: "latencyMs" }), scenarios: [{ kind: "offline" }] }, ["#/requirements/0/metric"]],
      [{ paths: ["edge"], configuration: { threads: 2 } }, ["#/configuration"]],
      [{ configuration: { threads: 5 } }, ["#/configuration/threads"]],
      [{ scenarios: [{ kind: "offline", minDurationMs: 1_000 }], timeoutMs: 1_000 }, ["#/timeoutMs"]],
      [{ scenarios: [{ kind: "offline" }], paths: ["edge", "runner"], timeoutMs: 3_000 }, ["#/timeoutMs"]],
      [{ scenarios: [{ kind: "server", boundMs: 10 }], timeoutMs: 6_000 }, ["#/timeoutMs"]],
      [{ scenarios: [] }, ["#/scenarios"]],
      [{ scenarios: [{ kind: "server" }] }, ["#/scenarios/0/boundMs"]],
      [{ subject: kernel, paths: ["edge"] }, ["#/paths"]],
      [{ subject: kernel, configuration: {} }, ["#/configuration"]],
      [{ subject: { ...kernel, kernel: "nobody" } }, ["#/subject/kernel"]],
      [{ subject: { ...kernel, kernel: "halves" } }, ["#/subject/kernel"]],
      [{ subject: { ...kernel, shape: { n: 0 } } }, ["#/subject/shape/n"]],
      [{ subject: { ...kernel, shape: { m: 4 }, variant: "wide" } }, ["#/subject/shape/m", "#/subject/variant"]],
      [{ subject: kernel, deviceKey: "cpu" }, ["#/deviceKey"]],
      [{ subject: kernel, ...required({ metric: "fidelity" }) }, ["#/requirements/0/metric"]],
    ];
    for (const [changes, expected] of cases) {
      expect([changes, await pointers(changes)]).toEqual([changes, expected]);
    }
    expect(await countStored()).toEqual(before);
  });
});

async function run(changes: object, result: (spec: ValidationSpec) => ValidationResult): Promise<Job> {
  const { json } = await submit({ requirements: "quick", ...changes });
  const offer = await scripted.next("offer");
  scripted.succeed(offer, result(offer.spec as ValidationSpec));
  await scripted.next("jobSettled");
  return (await callEdge("GET", `/v1/jobs/${json.id}`)).json;
}

/** Result of a runner for a spec. */
const answer = (spec: ValidationSpec, changes: Partial<ValidationResult> = {}) => ({
  ...answerValidation(spec),
  ...changes,
});

describe("a validation that ended", () => {
  it("is with its job, in the history and with its placement", async () => {
    const job = await run({ label: "first" }, (spec) => answer(spec));
    expect(job).toMatchObject({ state: "succeeded", result: { kind: "validation", verdict: "pass" } });
    const { items } = (await callEdge("GET", "/v1/history/series?label=first")).json;
    expect(items.map(({ metric }: { metric: string }) => metric).toSorted()).toEqual([
      "estimateMs",
      "latencyMs",
      "samplesPerS",
    ]);
    expect(items[0]).toMatchObject({
      subjectKind: "model",
      subject: "cartpole@1",
      configuration: { scenario: "singleStream", path: "runner", variant: "fp32", backend: "ort-cpu", threads: 1 },
      points: 1,
    });
    const { validated } = await readPlacement();
    expect(validated).toMatchObject({
      runId: job.runId,
      verdict: "pass",
      serviceMs: { count: 3, max: 3 },
      requirements: [{ metric: "latencyMs", percentile: 0.5, atMost: 10 }],
    });
  });

  it("changes nothing when it is stored twice, nor where a later one is there", async () => {
    const job = await run({ label: "twice" }, (spec) => answer(spec, { verdict: "fail" }));
    const stored = await readPlacement();
    expect(stored.validated?.runId).toBe(job.runId);
    const input = {
      jobId: job.id,
      attempt: 1,
      runnerId: runner.runnerId,
      deviceKey: "cpu",
      spec: job.spec,
      result: job.result!,
      startedAtMs: 1,
      endedAtMs: 2,
    };
    await storeResult(mainEnv, input);
    expect(await readPlacement()).toEqual(stored);
    const otherId = job.id.slice(0, -1) + (job.id.endsWith("0") ? "1" : "0");
    await storeResult(mainEnv, { ...input, jobId: otherId });
    expect(await readPlacement()).toEqual(stored);
    const { items } = (await callEdge("GET", "/v1/history/series?label=twice&metric=latencyMs")).json;
    expect(items[0].points).toBe(2);
  });

  it("says nothing of a placement that is served otherwise", async () => {
    const before = await readPlacement();
    const configuration = { threads: 2, maxRows: 8, maxInFlight: null };
    const job = await run({ configuration, label: "other" }, (spec) => answer(spec));
    expect(job.state).toBe("succeeded");
    expect(await readPlacement()).toEqual(before);
    const { items } = (await callEdge("GET", "/v1/history/series?label=other")).json;
    expect(items[0].configuration).toMatchObject({ threads: 2, maxRows: 8 });
  });

  it("of another subject or placement than was asked for fails its job", async () => {
    const strange = await run({}, (spec) => answer(spec, { modelVersionId: `ver_${"0".repeat(26)}` }));
    expect(strange).toMatchObject({ state: "failed", problem: { code: "backend-failed" } });
    const elsewhere = await run({}, (spec) => answerValidation({ ...spec, placementId: `plc_${"0".repeat(26)}` }));
    expect(elsewhere.state).toBe("failed");
  });

  it("is forgotten by a placement that is measured anew", async () => {
    expect((await readPlacement()).validated).not.toBeNull();
    await callEdge("POST", "/v1/jobs", { body: { kind: "calibration", modelVersionId: versionId } });
    await calibrate();
    expect((await readPlacement()).validated).toBeNull();
  });
});
