import { PLAIN } from "../../../src/protocol/models/network-layout.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { writeOnnxMlp } from "../../../models/onnx-mlp-writer.ts";
import { fingerprintIdOf } from "../../../src/protocol/fleet/hardware.ts";
import type { Series } from "../../../src/protocol/history/series.ts";
import type { Job } from "../../../src/protocol/jobs/job.ts";
import {
  type NetworkTuning,
  type StoredTuning,
  tuningIdOf,
  type TuningResult,
} from "../../../src/protocol/jobs/tuning.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import { summarise } from "../../../src/stats/distribution/distribution.ts";
import { callEdge, countStored, createKey, missingId, pointersOf, problemOf } from "../stack/edge-client.ts";
import { countRuns, newOnlineRunner, newRunner, readEvents, readJob, submitJob } from "../stack/queue-client.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { capabilities, type KernelTuningResult, tuningResult } from "../stack/samples.ts";

const body = { kind: "tuning", kernel: "triad", shape: { n: 60 } };
const typed = { ...body, dtype: "float32" };

let runner: Awaited<ReturnType<typeof newOnlineRunner>>;
beforeEach(async () => {
  runner = await newOnlineRunner();
});

/** A separate tuning for each test, in a bucket of its own. */
let buckets = 1;
function ownTuning(changes: Partial<StoredTuning> = {}): KernelTuningResult {
  const { tuning: sample, environment: here, ...result } = tuningResult();
  const tuning = { ...sample, bucket: { n: 1_000 + buckets++ }, ...changes };
  return { ...result, tuning, environment: { ...here, fingerprint: tuning.fingerprint } };
}

async function finish(result: TuningResult, scripted: ScriptedRunner = runner.scripted): Promise<Job> {
  const { id } = await submitJob(body);
  scripted.succeed(await scripted.next("offer"), result);
  expect(await scripted.next("jobSettled")).toMatchObject({ stored: true });
  return readJob(id);
}

const list = async (query = "") => (await callEdge("GET", `/v1/tunings?${query}`)).json as { items: StoredTuning[] };

describe("a tuning job", () => {
  it("is offered with its defaults to a runner that has the kernel", async () => {
    const job = await submitJob(body);
    const offer = await runner.scripted.next("offer");
    expect(offer.spec).toEqual({ ...body, budgetMs: 30_000, seed: 1, fresh: false });
    const progress = { phase: "rung 1", done: 3, total: 8, rung: 1, candidatesLeft: 4 };
    runner.scripted.send({ type: "jobProgress", lease: offer.lease, progress });
    runner.scripted.succeed(offer, ownTuning());
    await runner.scripted.next("jobSettled");
    expect((await readEvents(job.id)).find(({ type }) => type === "progress")?.progress).toEqual(progress);
  });

  it("is cancelled like any other", async () => {
    const { id } = await submitJob(body);
    const offer = await runner.scripted.next("offer");
    await callEdge("POST", `/v1/jobs/${id}/cancel`);
    expect((await runner.scripted.next("jobCancel")).lease).toEqual(offer.lease);
    expect((await readJob(id)).state).toBe("cancelled");
  });

  it("names what is wrong with it, and queues nothing", async () => {
    const before = await countStored();
    const cases: [object, string, string[]][] = [
      [{ ...body, kernel: "nobody" }, "unknown-kernel", ["#/kernel"]],
      [{ ...body, shape: { n: 0 } }, "invalid-request", ["#/shape/n"]],
      [{ ...body, shape: { rows: 1 } }, "invalid-request", ["#/shape/rows"]],
      [{ ...body, dtype: "int8" }, "invalid-request", ["#/dtype"]],
      [{ ...body, budgetMs: 199 }, "invalid-request", ["#/budgetMs"]],
      [{ ...body, budgetMs: 600_001 }, "invalid-request", ["#/budgetMs"]],
      [{ ...body, variant: "plain" }, "invalid-request", ["#/variant"]],
      [{ ...body, fresh: "yes", runnerId: "me" }, "invalid-request", ["#/fresh", "#/runnerId"]],
    ];
    for (const [request, code, pointers] of cases) {
      const reply = await callEdge("POST", "/v1/jobs", { body: request });
      expect([problemOf(reply).code, pointersOf(reply)]).toEqual([code, pointers]);
    }
    expect(await countStored()).toEqual(before);
  });

  it("fails with a result that is not of it", async () => {
    const { tuning, environment } = tuningResult();
    for (const wrong of [
      { kernel: "other" },
      { dtype: "int32" },
      { fingerprint: { ...tuning.fingerprint, driver: "2" } },
      { deviceName: "another" },
      { software: false },
      { best: { ...tuning.best, ms: { ...tuning.best.ms, count: 9 } } },
    ] as const) {
      const { id } = await submitJob(typed);
      runner.scripted.succeed(await runner.scripted.next("offer"), { ...ownTuning(wrong), environment });
      await runner.scripted.next("jobSettled");
      expect(await readJob(id)).toMatchObject({ state: "failed", problem: { code: "backend-failed" } });
      // Otherwise it would be in quarantine after some of them.
      expect((await callEdge("POST", `/v1/runners/${runner.runnerId}/resume`)).status).toBe(200);
    }
  });
});

describe("what a tuning found", () => {
  it("is the job's result, a tuning with its trials, and a point of the history", async () => {
    const result = ownTuning();
    const job = await finish(result);
    expect(job).toMatchObject({ state: "succeeded", result });
    const id = await tuningIdOf(result.tuning);
    const fingerprintId = await fingerprintIdOf(result.tuning.fingerprint);
    const stored = { ...result.tuning, id, fingerprintId, jobId: job.id, runnerId: runner.runnerId };
    expect((await list()).items[0]).toEqual(stored);
    const found = await callEdge("GET", `/v1/tunings/${id}`);
    expect(found.json).toEqual({ tuning: stored, trials: result.trials });
    const { items } = (await callEdge("GET", "/v1/history/series?subject=triad&metric=tunedMs")).json;
    expect((items as Series[])[0]).toMatchObject({
      unit: "ms",
      direction: "lower",
      clock: "runner-wall",
      configuration: { n: 60, dtype: "float32", device: "Sample software GPU" },
    });
    expect(await countRuns(job.id)).toEqual({ runs: 1, points: 1 });
  });

  it("is stored once however often its outcome comes", async () => {
    const { id } = await submitJob(body);
    const offer = await runner.scripted.next("offer");
    const result = ownTuning();
    for (let i = 0; i < 3; i++) {
      runner.scripted.succeed(offer, result);
      expect(await runner.scripted.next("jobSettled")).toMatchObject({ stored: true });
    }
    const tuningId = await tuningIdOf(result.tuning);
    expect((await list("limit=200")).items.filter((item) => item.id === tuningId)).toHaveLength(1);
    expect(await countRuns(id)).toEqual({ runs: 1, points: 1 });
  });

  it("gives way to a later search, but not to an answer that was known", async () => {
    const first = ownTuning();
    const id = await tuningIdOf(first.tuning);
    const read = async () => (await callEdge("GET", `/v1/tunings/${id}`)).json;
    await finish(first);
    const second = { ...first, tuning: { ...first.tuning, spentMs: 900 } };
    const job = await finish(second);
    expect((await read()).tuning).toMatchObject({ spentMs: 900, jobId: job.id });
    const known = await finish({ ...first, trials: [], cached: true });
    expect(await read()).toMatchObject({ tuning: { spentMs: 900, jobId: job.id }, trials: first.trials });
    expect(await countRuns(known.id)).toEqual({ runs: 1, points: 0 });
  });

  it("is kept too where a runner knew it and the edge did not", async () => {
    const result = { ...ownTuning(), cached: true };
    await finish(result);
    const found = await callEdge("GET", `/v1/tunings/${await tuningIdOf(result.tuning)}`);
    expect(found.json.trials).toEqual(result.trials);
  });

  it("is listed by kernel and device, newest first, page by page", async () => {
    const { fingerprint } = tuningResult().tuning;
    const results = [ownTuning(), ownTuning({ fingerprint: { ...fingerprint, driver: "2" } }), ownTuning()];
    for (const result of results) await finish(result);
    const ids = await Promise.all(results.map(({ tuning }) => tuningIdOf(tuning)));
    const another = await fingerprintIdOf({ ...fingerprint, driver: "2" });
    expect((await list("limit=3")).items.map(({ id }) => id)).toEqual(ids.toReversed());
    expect((await list(`device=${another}`)).items.map(({ id }) => id)).toEqual([ids[1]]);
    expect((await list("kernel=gemm")).items).toEqual([]);
    expect((await list("kernel=triad&limit=1")).items).toHaveLength(1);
    const first = await callEdge("GET", "/v1/tunings?limit=2");
    const rest = await callEdge("GET", `/v1/tunings?limit=2&cursor=${first.json.nextCursor}`);
    expect(rest.json.items[0].id).toBe(ids[0]);
    expect(pointersOf(await callEdge("GET", "/v1/tunings?kernel=no%20name&limit=0&device=x"))).toEqual([
      "query/limit",
      "query/kernel",
      "query/device",
    ]);
  });
});

describe("a second runner", () => {
  it("gets the first one's result by id, with its own credential", async () => {
    const result = ownTuning();
    await finish(result);
    const second = await newRunner();
    const path = `/v1/link/tunings/${await tuningIdOf(result.tuning)}`;
    const reply = await callEdge("GET", path, { key: second.credential });
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual({ tuning: result.tuning, trials: result.trials });
  });

  it("gets a clear answer where there is none, and is refused without a credential", async () => {
    const path = `/v1/link/tunings/${missingId.tuning}`;
    expect(problemOf(await callEdge("GET", path, { key: runner.credential })).code).toBe("not-found");
    expect(problemOf(await callEdge("GET", path, { key: null })).code).toBe("unauthorized");
    expect(problemOf(await callEdge("GET", path)).code).toBe("unauthorized");
    const infer = await createKey(["infer"]);
    expect(problemOf(await callEdge("GET", "/v1/tunings", { key: infer.secret })).code).toBe("forbidden");
    expect(problemOf(await callEdge("GET", `/v1/tunings/${missingId.tuning}`)).code).toBe("not-found");
    expect(pointersOf(await callEdge("GET", "/v1/tunings/tun_short"))).toEqual(["path/id"]);
  });
});

describe("axes of a benchmark", () => {
  const benchmark = { kind: "benchmark", kernel: "triad", shape: { n: 64 } };
  const submit = (changes: object) => callEdge("POST", "/v1/jobs", { body: { ...benchmark, ...changes } });

  it("are checked like the rest", async () => {
    expect((await submit({ variant: "plain", axes: { lanes: 32 } })).status).toBe(202);
    const cases: [object, string[]][] = [
      [{ variant: "plain", axes: { lanes: 33 } }, ["#/axes/lanes"]],
      [{ variant: "plain", axes: { tile: 8 } }, ["#/axes/tile"]],
      [{ axes: { lanes: 32 } }, ["#/axes"]],
      [{ variant: "plain", axes: { lanes: 0.5 } }, ["#/axes/lanes"]],
      [{ tuned: "no" }, ["#/tuned"]],
    ];
    for (const [changes, pointers] of cases) expect(pointersOf(await submit(changes))).toEqual(pointers);
  });
});

describe("a tuning of a model", () => {
  const upload = async () => {
    const weights = new Float32Array(8).fill(buckets++);
    const file = writeOnnxMlp({
      name: "balance",
      input: "observation",
      output: "logits",
      layers: [{ inputs: 4, outputs: 2, weights, bias: new Float32Array(2) }],
    });
    const name = `tuned-${buckets}`;
    const headers = { "content-type": "application/octet-stream" };
    const { json } = await callEdge("POST", `/v1/models?name=${name}`, { body: file, headers });
    return { name, versionId: json.version.id as string };
  };
  /** A runner whose GPU serves models by our own kernels. */
  const ableRunner = async () => {
    const devices = capabilities.devices.map((device) => ({
      ...device,
      servesModels: device.backends.includes("wgsl"),
    }));
    const registered = await newRunner();
    const scripted = await ScriptedRunner.connect(registered);
    scripted.send({ type: "hello", capabilities: { ...capabilities, devices }, running: [] });
    await scripted.next("welcome");
    return { ...registered, scripted };
  };
  const networkOf = (name: string, modelVersionId: string): NetworkTuning => {
    const timed = { layout: { ...PLAIN, lanes: 64, spreadFrom: 0 }, ms: summarise([2, 2, 2]) };
    const after = { layout: { ...timed.layout, tiling: "by-size" as const }, ms: summarise([1, 1, 1]) };
    const trials = [
      { layout: timed.layout, ms: 2, reason: null },
      { layout: after.layout, ms: 1, reason: null },
    ];
    const inputs = { observation: [1, 4] };
    const size = { inputs, trials, before: timed, after, gain: { ratio: 2, low: 2, high: 2 }, complete: true };
    const shared = { variant: "fp32", reloaded: true, budgetMs: 30_000, spentMs: 9, tunedAt: new Date().toISOString() };
    return { model: `${name}@1`, modelVersionId, sizes: [size], ...shared };
  };
  const nextTuning = async ({ scripted }: { scripted: ScriptedRunner }) => {
    for (;;) {
      const offer = await scripted.next("offer");
      if (offer.spec.kind === "tuning") return offer;
      const problem = createProblem("backend-failed", "It is not of this test.");
      scripted.send({ type: "jobOutcome", lease: offer.lease, outcome: { ok: false, problem } });
      await scripted.next("jobSettled");
    }
  };

  it("is offered with its version, and leaves a point in the history of its model", async () => {
    const able = await ableRunner();
    const { name, versionId } = await upload();
    const asked = { kind: "tuning", model: name, runnerId: able.runnerId };
    const { id } = (await callEdge("POST", "/v1/jobs", { body: asked })).json;
    const offer = await nextTuning(able);
    expect(offer.spec).toMatchObject({ model: `${name}@1`, variant: "fp32", modelVersionId: versionId });
    expect(offer.model?.modelVersionId).toBe(versionId);
    const { environment } = tuningResult();
    const network = networkOf(name, versionId);
    able.scripted.succeed(offer, { kind: "tuning", network, cached: false, environment });
    await able.scripted.next("jobSettled");
    expect(await readJob(id)).toMatchObject({ state: "succeeded", result: { network } });
    const { items } = (await callEdge("GET", `/v1/history/series?subject=${name}@1&metric=tunedMs`)).json;
    expect(items).toMatchObject([
      { subjectKind: "model", configuration: { backend: "wgsl", variant: "fp32", sizes: "observation 1×4" } },
    ]);
  });

  it("names the field that is wrong", async () => {
    const able = await ableRunner();
    const { name } = await upload();
    const asked = { kind: "tuning", model: name, runnerId: able.runnerId };
    const cases: [object, string[]][] = [
      [{ kind: "tuning" }, ["#/kernel"]],
      [{ ...body, model: name }, ["#/model"]],
      [{ ...asked, model: "nobody" }, ["#/model"]],
      [{ ...asked, model: `${name}@2` }, ["#/model"]],
      [{ ...asked, variant: "int8" }, ["#/variant"]],
      [{ ...asked, shape: { n: 1 }, dtype: "float32" }, ["#/shape", "#/dtype"]],
      // Its devices serve no models by wgsl.
      [{ ...asked, runnerId: runner.runnerId }, ["#/model"]],
    ];
    for (const [request, pointers] of cases) {
      const reply = await callEdge("POST", "/v1/jobs", { body: request });
      expect([request, problemOf(reply).code, pointersOf(reply)]).toEqual([request, "invalid-request", pointers]);
    }
  });
});
