import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase, openProject } from "../../../src/edge/store/database.ts";
import { readAllCapabilities, recordRoofline } from "../../../src/edge/store/fleet/runner-store.ts";
import { putTrace } from "../../../src/edge/store/history/run-store.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import type { Offer } from "../../../src/protocol/link.ts";
import { Run, type RunSamples } from "../../../src/protocol/history/run.ts";
import type { Roofline, RooflinePosition } from "../../../src/protocol/fleet/roofline.ts";
import { Trace } from "../../../src/protocol/jobs/benchmark.ts";
import { callEdge, createKey, fetchEdge, mainEnv, missingId, pointersOf, problemOf } from "../stack/edge-client.ts";
import { countRuns, newOnlineRunner, queueStub, readJob, submitJob } from "../stack/queue-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { benchmarkResult } from "../stack/samples.ts";
import type { ScriptedRunner } from "../stack/scripted-runner.ts";

const trace: Trace = {
  traceEvents: [
    { ph: "M", name: "process_name", pid: 1, tid: 1, args: { name: "gpu0: sample" } },
    {
      ph: "X",
      name: "compute",
      cat: "runner",
      ts: 0,
      dur: 5.5,
      pid: 1,
      tid: 1,
      args: { clock: "runner-wall", run: 0 },
    },
    { ph: "C", name: "dispatches", ts: 6, pid: 1, tid: 1, args: { dispatches: 1 } },
  ],
  displayTimeUnit: "ms",
  otherData: { startedAt: "2026-11-21T09:30:00.000Z", droppedEvents: 0, alignment: "none" },
};
const traceText = JSON.stringify(trace);
/** A trace of this many bytes: its alignment is explained at length. */
const traceOf = (sizeBytes: number) => {
  const alignment = "·".repeat((sizeBytes - traceText.length + "none".length) / 2);
  const text = JSON.stringify({ ...trace, otherData: { ...trace.otherData, alignment } });
  return text.length + alignment.length < sizeBytes ? text.replace('"alignment":"', '"alignment":" ') : text;
};

function settle(scripted: ScriptedRunner, { lease }: Offer, text?: string, samples?: string): void {
  scripted.send({
    type: "jobOutcome",
    lease,
    outcome: {
      ok: true,
      result: benchmarkResult(),
      deviceKey: "gpu0",
      startedAt: new Date().toISOString(),
      ...(text !== undefined && { trace: text }),
      ...(samples !== undefined && { samples }),
    },
  });
}

/** A job that ended well with this trace and these samples, if any. */
async function finishJob(text?: string, samples?: string): Promise<{ jobId: string; runId: string }> {
  const { scripted } = await newOnlineRunner();
  const { id } = await submitJob({ trace: true });
  settle(scripted, await scripted.next("offer"), text, samples);
  expect(await scripted.next("jobSettled")).toMatchObject({ stored: true });
  return { jobId: id, runId: (await readJob(id)).runId ?? "" };
}

const listTraces = async () => (await env.ARTIFACTS.list({ prefix: "traces/" })).objects.map(({ key }) => key);

let reader: string;
beforeAll(async () => {
  reader = (await createKey(["read"])).secret;
});

describe("a run", () => {
  it("is described by its id, with the job's specification and result", async () => {
    const { jobId, runId } = await finishJob();
    const reply = await callEdge("GET", `/v1/runs/${runId}`, { key: reader });
    expect(reply.status).toBe(200);
    const job = await readJob(jobId);
    expect(Run.parse(reply.json)).toEqual({
      origin: "job",
      id: runId,
      jobId,
      attempt: 1,
      runnerId: job.runnerId,
      deviceKey: "gpu0",
      spec: job.spec,
      result: job.result,
      traceBytes: null,
      samplesBytes: null,
      startedAt: expect.any(String),
      endedAt: expect.any(String),
    });
  });

  it("of before this release is described as well", async () => {
    const { runId } = await finishJob();
    const { roofline: _, occupancy: __, counters: ___, trace: ____, ...older } = benchmarkResult();
    await env.DB.prepare("update runs set result = ? where id = ?").bind(JSON.stringify(older), runId).run();
    const { json } = await callEdge("GET", `/v1/runs/${runId}`);
    expect(json.result).toMatchObject({ roofline: null, occupancy: null, counters: null, trace: null });
  });

  it("that is not there is not found, nor is an id of something else", async () => {
    for (const path of ["", "/trace", "/samples"]) {
      expect(problemOf(await callEdge("GET", `/v1/runs/${missingId.run}${path}`)).code).toBe("not-found");
      const foreign = await callEdge("GET", `/v1/runs/${missingId.job}${path}`);
      expect(problemOf(foreign).code).toBe("invalid-request");
      expect(pointersOf(foreign)).toEqual(["path/id"]);
    }
  });
});

describe("a trace", () => {
  it("is kept beside its run, and given as it came", async () => {
    const { jobId, runId } = await finishJob(traceText);
    expect((await callEdge("GET", `/v1/runs/${runId}`)).json.traceBytes).toBe(traceText.length);
    const response = await fetchEdge("GET", `/v1/runs/${runId}/trace`, { key: reader });
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(await response.text()).toBe(traceText);
    // It travels beside the result: lists and results stay small.
    expect(JSON.stringify(await readJob(jobId))).not.toContain("traceEvents");
  });

  it("is kept once, however often its outcome comes", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob({ trace: true });
    const before = await listTraces();
    const offer = await scripted.next("offer");
    for (let i = 0; i < 3; i++) settle(scripted, offer, traceText);
    for (let i = 0; i < 3; i++) expect(await scripted.next("jobSettled")).toMatchObject({ stored: true });
    expect(await listTraces()).toEqual([...before, `traces/${id.replace("job_", "run_")}/1.json`].toSorted());
    expect((await countRuns(id)).runs).toBe(1);
  });

  it("is not kept where none was asked for", async () => {
    const { scripted } = await newOnlineRunner();
    await submitJob();
    const before = await listTraces();
    settle(scripted, await scripted.next("offer"), traceText);
    expect(await scripted.next("jobSettled")).toMatchObject({ stored: true });
    expect(await listTraces()).toEqual(before);
  });

  it("is that of the attempt that became the run", async () => {
    const { runId } = await finishJob(traceText);
    await putTrace(env.ARTIFACTS, { id: runId, attempt: 2 }, "{}");
    expect(await (await fetchEdge("GET", `/v1/runs/${runId}/trace`)).text()).toBe(traceText);
  });

  it("is not there where none came", async () => {
    const { runId } = await finishJob();
    expect(problemOf(await callEdge("GET", `/v1/runs/${runId}/trace`)).code).toBe("not-found");
  });

  it("may be as large as the limit says, in bytes", async () => {
    const text = traceOf(LIMITS.traceBytes);
    expect(new TextEncoder().encode(text).byteLength).toBe(LIMITS.traceBytes);
    const { runId } = await finishJob(text);
    expect((await callEdge("GET", `/v1/runs/${runId}`)).json.traceBytes).toBe(LIMITS.traceBytes);
  });

  it.each([
    ["is larger than the limit", traceOf(LIMITS.traceBytes + 2)],
    ["is not JSON", "{"],
    ["is of another form", '{"traceEvents":[{"ph":"X"}]}'],
    ["has spans that end before they begin", traceText.replace('"dur":5.5', '"dur":-1')],
  ])("that %s fails the job, and nothing is kept", async (_, text) => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob({ trace: true });
    const before = await listTraces();
    settle(scripted, await scripted.next("offer"), text);
    await scripted.next("jobSettled");
    expect(await readJob(id)).toMatchObject({ state: "failed", problem: { code: "backend-failed" } });
    expect(await listTraces()).toEqual(before);
    expect((await countRuns(id)).runs).toBe(0);
  });
});

describe("raw samples", () => {
  const samples: RunSamples = {
    measurements: [
      { subject: "triad", metric: "wallMs", unit: "ms", clock: "runner-wall", values: [1, 2, 3] },
      { subject: "triad", metric: "gpuMs", unit: "ms", clock: "gpu-timestamp", values: [0.5, 0.5, 0.25] },
    ],
  };
  const text = JSON.stringify(samples);
  const samplesOf = async (runId: string) => {
    const { json } = await callEdge("GET", `/v1/runs/${runId}`, { key: reader });
    const reply = await callEdge("GET", `/v1/runs/${runId}/samples`, { key: reader });
    return { samplesBytes: json.samplesBytes, status: reply.status, json: reply.json };
  };
  /** Samples whose text has this length. */
  const padded = (sizeBytes: number) => text.padEnd(sizeBytes);

  it("are kept beside the run, once, and not in its result", async () => {
    const { jobId, runId } = await finishJob(undefined, text);
    const kept = await samplesOf(runId);
    expect(kept).toEqual({ samplesBytes: expect.any(Number), status: 200, json: samples });
    expect(JSON.stringify(await readJob(jobId))).not.toContain("0.25");
    const { objects } = await env.ARTIFACTS.list({ prefix: `samples/${runId}/` });
    expect(objects.map(({ key, size }) => [key, size])).toEqual([[`samples/${runId}/1.json.gz`, kept.samplesBytes]]);
  });

  it("are kept once, however often the outcome comes", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob();
    const offer = await scripted.next("offer");
    for (let i = 0; i < 3; i++) settle(scripted, offer, undefined, text);
    for (let i = 0; i < 3; i++) expect(await scripted.next("jobSettled")).toMatchObject({ stored: true });
    expect((await env.ARTIFACTS.list({ prefix: `samples/${id.replace("job_", "run_")}/` })).objects).toHaveLength(1);
    expect((await countRuns(id)).runs).toBe(1);
  });

  it("may be as large as the limit says", async () => {
    const { runId } = await finishJob(undefined, padded(LIMITS.samplesBytes));
    expect((await samplesOf(runId)).json).toEqual(samples);
  });

  it.each([
    ["are larger than the limit", padded(LIMITS.samplesBytes + 1)],
    ["are larger in bytes", text.replace('"triad"', `"${"·".repeat(LIMITS.samplesBytes / 2)}"`)],
    ["are not JSON", "{"],
    ["are of another form", '{"measurements":[{"values":["1"]}]}'],
    ["are not finite", text.replace("0.25", "1e999")],
  ])("that %s are not kept, and the job ends well", async (_, unsound) => {
    const { jobId, runId } = await finishJob(undefined, unsound);
    expect((await readJob(jobId)).state).toBe("succeeded");
    expect(await samplesOf(runId)).toMatchObject({ samplesBytes: null, status: 404 });
  });

  it("that the bucket does not take are lost, and the job ends well", async () => {
    const bucket = new Proxy(env.ARTIFACTS, {
      get: (target, name) => {
        if (name === "put") return () => Promise.reject(new Error("full"));
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const replace = (ARTIFACTS: R2Bucket) =>
      runInDurableObject(queueStub(), (instance) => {
        const { env: bindings } = instance as unknown as { env: object };
        Object.assign(instance, { env: { ...bindings, ARTIFACTS } });
      });
    await replace(bucket);
    const { jobId, runId } = await finishJob(undefined, text);
    await replace(env.ARTIFACTS);
    expect((await readJob(jobId)).state).toBe("succeeded");
    expect(await samplesOf(runId)).toMatchObject({ samplesBytes: null, status: 404 });
  });
});

describe("the roofs of a device", () => {
  const roofline: Roofline = {
    measuredAt: "2026-11-21T09:30:00.000Z",
    tookMs: 1_000,
    loadAverage: 0.5,
    gflops: { float32: null, float16: null, int8: null },
    gigabytesPerSecond: { triad: null, copy: null, read: null },
    missing: { float16: "none" },
  };

  it("are shown with it once its runner has reported them", async () => {
    const { scripted, runnerId } = await newOnlineRunner();
    const devices = async () => (await callEdge("GET", `/v1/runners/${runnerId}`)).json.capabilities.devices;
    const before = await devices();
    scripted.send({ type: "deviceRoofline", deviceKey: "nobody", roofline });
    scripted.send({ type: "deviceRoofline", deviceKey: "gpu0", roofline });
    await expect.poll(devices, BOUND).toEqual([before[0], { ...before[1], roofline }]);
    expect(before.map((device: { roofline: unknown }) => device.roofline)).toEqual([null, null]);
  });

  it("are all kept where they come at once, and none of a runner that was removed", async () => {
    const { runnerId } = await newOnlineRunner();
    const db = openDatabase(env.DB);
    await Promise.all(["cpu", "gpu0"].map((deviceKey) => recordRoofline(db, runnerId, deviceKey, roofline)));
    const read = async () =>
      (await readAllCapabilities(openProject(mainEnv))).map(({ devices }) => devices.map((each) => each.roofline));
    expect(await read()).toContainEqual([roofline, roofline]);
    await callEdge("DELETE", `/v1/runners/${runnerId}`);
    await recordRoofline(db, runnerId, "cpu", { ...roofline, tookMs: 2 });
    const row = env.DB.prepare("select capabilities->'$.devices[0].roofline.tookMs' as ms from runners where id = ?");
    expect(await row.bind(runnerId).first("ms")).toBe(String(roofline.tookMs));
  });

  it("leave the share of them in the history", async () => {
    const position: RooflinePosition = {
      arithmeticIntensity: 0.25,
      roof: 10,
      unit: "GFLOP/s",
      shareOfRoof: 0.75,
      bound: "memory",
      peakGflops: 100,
      peakGigabytesPerSecond: 40,
      measuredAt: roofline.measuredAt,
      note: null,
    };
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob({ label: "roof" });
    const { lease } = await scripted.next("offer");
    const result = { ...benchmarkResult(), roofline: position };
    const startedAt = new Date().toISOString();
    scripted.send({ type: "jobOutcome", lease, outcome: { ok: true, result, deviceKey: "gpu0", startedAt } });
    await scripted.next("jobSettled");
    expect(await countRuns(id)).toEqual({ runs: 1, points: 3 });
    const { items } = (await callEdge("GET", "/v1/history/series?subject=triad&metric=shareOfRoof")).json;
    expect(items).toEqual([
      expect.objectContaining({ unit: "share", direction: "higher", clock: "runner-wall", label: "roof" }),
    ]);
    const { points } = (await callEdge("GET", `/v1/history/points?series=${items[0].id}`)).json;
    expect(points).toEqual([expect.objectContaining({ count: 1, min: 0.75, max: 0.75 })]);
  });
});
