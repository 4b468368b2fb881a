import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { openProject } from "../../../src/edge/store/database.ts";
import { applyConfiguration, findPlacement } from "../../../src/edge/store/fleet/placement-store.ts";
import type { CalibrationResult } from "../../../src/protocol/jobs/calibration.ts";
import type { Capabilities } from "../../../src/protocol/fleet/hardware.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { Placement } from "../../../src/protocol/models/model.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import { DEFAULT_CONFIGURATION, type ServingConfiguration } from "../../../src/protocol/fleet/serving.ts";
import { summarise } from "../../../src/stats/distribution/distribution.ts";
import {
  byNumber,
  callEdge,
  createKey,
  mainEnv,
  missingId,
  pointersOf,
  problemOf,
  type RegisteredRunner,
} from "../stack/edge-client.ts";
import { newRunner, untilOffline } from "../stack/queue-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { calibrationResult, capabilities } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { cartpole, variantOf } from "../stack/zoo.ts";

const OCTETS = { "content-type": "application/octet-stream" };
const CORES = capabilities.hardware.cpu.logicalCores;
let uploads = 0;

let name = "";
let input = "";
let runner: RegisteredRunner;
let scripted: ScriptedRunner;
let versionId = "";

const roomy: Capabilities = { ...capabilities, jobSlots: 16 };

async function connect() {
  scripted = await ScriptedRunner.connect(runner);
  scripted.send({ type: "hello", capabilities: roomy, running: [] });
  return scripted.next("welcome");
}

/** The next offer of this test's version. */
async function nextCalibration() {
  let offer = await scripted.next("offer");
  while (offer.model?.modelVersionId !== versionId) offer = await scripted.next("offer");
  return offer;
}

/** Calibration of a configuration: a millisecond for each row of a batch, up to this many. */
function measured(configuration: ServingConfiguration, serviceMs = 1): CalibrationResult {
  const result = calibrationResult(versionId);
  const sweep = [1, 2, 4].map((rows) => ({ rows, serviceMs: summarise([rows * serviceMs]) }));
  return { ...result, placements: result.placements.map((each) => ({ ...each, sweep, configuration })) };
}

async function settle(offer: Awaited<ReturnType<typeof nextCalibration>>, result: CalibrationResult) {
  scripted.succeed(offer, result);
  await scripted.next("jobSettled");
}

const placementOf = async (): Promise<Placement> =>
  (await callEdge("GET", `/v1/models/${name}/placements`)).json.items.find(
    ({ runnerId }: Placement) => runnerId === runner.runnerId,
  );
const configure = (id: string, body: unknown, key?: string) =>
  callEdge("PUT", `/v1/placements/${id}/configuration`, { body, ...(key !== undefined && { key }) });
const infer = (changes: object) =>
  callEdge("POST", "/v1/infer", {
    body: { model: name, budgetMs: 60_000, inputs: { [input]: { data: [[1, 2, 3, 4]] } }, ...changes },
  });

beforeEach(async () => {
  name = `placed-${++uploads}`;
  runner = await newRunner();
  await connect();
  const { version } = (
    await callEdge("POST", `/v1/models?name=${name}`, {
      body: variantOf(cartpole, ++uploads),
      headers: OCTETS,
    })
  ).json;
  versionId = version.id;
  input = version.inputs[0].name;
  await settle(await nextCalibration(), calibrationResult(versionId));
});

describe("a placement", () => {
  it("is read by its id, and begins with the default configuration", async () => {
    const { id } = await placementOf();
    const { status, json } = await callEdge("GET", `/v1/placements/${id}`);
    expect(status).toBe(200);
    expect(Placement.parse(json)).toMatchObject({ id, configuration: DEFAULT_CONFIGURATION, validated: null });
    expect(problemOf(await callEdge("GET", `/v1/placements/${missingId.placement}`)).code).toBe("not-found");
  });

  it("is measured at the shapes and numbers that its uploader gives, and anew where they change", async () => {
    const uploadWith = (query: Record<string, unknown>) =>
      callEdge("POST", `/v1/models?${new URLSearchParams({ name: "sized", ...toTexts(query) }).toString()}`, {
        body: variantOf(cartpole, uploads),
        headers: OCTETS,
      });
    const toTexts = (query: Record<string, unknown>) =>
      Object.fromEntries(Object.entries(query).map(([key, value]) => [key, JSON.stringify(value)]));
    const first = await uploadWith({ shapes: { [input]: [[1, 4]] } });
    expect([first.status, first.json.version.inputs[0].shapes]).toEqual([201, [[1, 4]]]);
    versionId = first.json.version.id;
    expect((await nextCalibration()).model?.inputs[0]?.shapes).toEqual([[1, 4]]);
    const again = await uploadWith({ shapes: { [input]: [[1, 4]] }, values: { [input]: [1, 2] } });
    expect([again.status, again.json.version.id]).toEqual([200, versionId]);
    expect(again.json.version.inputs[0]).toMatchObject({ shapes: [[1, 4]], values: [1, 2] });
    for (const shapes of [{ [input]: [[1, 5]] }, { [input]: [[2, 4]] }, { other: [[1]] }, { [input]: [] }]) {
      expect(problemOf(await uploadWith({ shapes })).errors?.[0]?.pointer).toMatch(/^query\/shapes/);
    }
    const broken = await callEdge("POST", `/v1/models?name=sized&shapes={`, { body: cartpole, headers: OCTETS });
    expect(problemOf(broken).errors).toEqual([{ pointer: "query/shapes", message: "must be JSON" }]);
  });

  it("has further sizes, and shapes that its runner found stand with its version", async () => {
    const result = calibrationResult(versionId);
    const sizes = [{ elements: 400, sweep: [{ rows: 1, serviceMs: summarise([9]) }] }];
    await callEdge("POST", "/v1/jobs", {
      body: { kind: "calibration", modelVersionId: versionId, runnerId: runner.runnerId },
    });
    await settle(await nextCalibration(), {
      ...result,
      placements: result.placements.map((each) => ({ ...each, sizes })),
      shapes: { [input]: [[1, 4]] },
    });
    expect((await placementOf()).sizes).toMatchObject([{ elements: 400, sweep: [{ rows: 1 }] }]);
    const { versions } = (await callEdge("GET", `/v1/models/${name}`)).json;
    expect(versions[0].inputs[0].shapes).toEqual([[1, 4]]);
  });

  it("does not keep shapes that its runner found and that do not fit its inputs", async () => {
    for (const shapes of [
      { [input]: [[1, 4, 1]] },
      { [input]: [[2 ** 30, 4]] },
      { [input]: [[1, 4]], constructor: [[1]] },
    ]) {
      await callEdge("POST", "/v1/jobs", {
        body: { kind: "calibration", modelVersionId: versionId, runnerId: runner.runnerId },
      });
      await settle(await nextCalibration(), { ...calibrationResult(versionId), shapes });
      const { versions } = (await callEdge("GET", `/v1/models/${name}`)).json;
      expect(versions[0].inputs[0]).not.toHaveProperty("shapes");
    }
  });

  it("is listed with its calibrations: those that wait, failed, or left a device out", async () => {
    const calibrationsOf = async () => (await callEdge("GET", `/v1/models/${name}/placements`)).json.calibrations;
    const again = () =>
      callEdge("POST", "/v1/jobs", {
        body: { kind: "calibration", modelVersionId: versionId, runnerId: runner.runnerId },
      });
    const about = { runnerId: runner.runnerId, modelVersionId: versionId };
    expect(await calibrationsOf()).toMatchObject([{ ...about, state: "done", problem: null, skipped: [] }]);
    const { json: job } = await again();
    expect(await calibrationsOf()).toMatchObject([{ ...about, jobId: job.id, state: "waiting" }]);
    const problem = createProblem("backend-failed", "It takes no picture of this size.");
    const skipped = [{ deviceKey: "gpu0", variant: "fp32", backend: "wgsl" as const, problem }];
    await settle(await nextCalibration(), { ...calibrationResult(versionId), skipped });
    expect(await calibrationsOf()).toMatchObject([{ ...about, state: "done", skipped }]);
    await again();
    const { lease } = await nextCalibration();
    scripted.send({ type: "jobOutcome", lease, outcome: { ok: false, problem } });
    await scripted.next("jobSettled");
    expect(await calibrationsOf()).toMatchObject([{ ...about, state: "failed", problem: { detail: problem.detail } }]);
  });

  it("is missed with the reason: a calibration that waits, then one that failed", async () => {
    const model = `unplaced-${++uploads}`;
    const { version } = (
      await callEdge("POST", `/v1/models?name=${model}`, { body: variantOf(cartpole, uploads), headers: OCTETS })
    ).json;
    const lack = async () => problemOf(await infer({ model })).detail;
    expect(await lack()).toBe(`No runner was calibrated for ${model} yet: its calibration waits or runs.`);
    versionId = version.id;
    const { lease } = await nextCalibration();
    const problem = createProblem("backend-failed", "It takes no picture of this size.");
    scripted.send({ type: "jobOutcome", lease, outcome: { ok: false, problem } });
    await vi.waitFor(
      async () => expect(await lack()).toContain(`failed on ${runner.runnerId}. ${problem.detail}`),
      BOUND,
    );
  });

  it("is configured: stored, sent to its runner, and measured anew under it", async () => {
    const { id } = await placementOf();
    const configuration = { threads: CORES, maxRows: 4, maxInFlight: 8 };
    const { status, json, headers } = await configure(id, configuration);
    expect([status, json.id, json.configuration]).toEqual([202, id, configuration]);
    const told = await scripted.next("configure");
    expect(told.placed).toMatchObject([
      { modelVersionId: versionId, places: [{ deviceKey: "cpu", variant: "fp32", configuration }] },
    ]);
    const offer = await nextCalibration();
    expect(headers.get("location")).toBe(`/v1/jobs/${offer.lease.jobId}`);
    expect(offer.model?.places).toEqual([{ deviceKey: "cpu", variant: "fp32", configuration }]);
    await settle(offer, measured(configuration));
    const { items } = (await callEdge("GET", `/v1/history/series?subject=${name}@1&metric=serviceMs`)).json;
    // Times with several threads are a separate series: no alert may claim that the model has become faster.
    const threads = items.map((each: { configuration: { threads?: number } }) => each.configuration.threads ?? 1);
    expect(threads.toSorted(byNumber)).toEqual([1, CORES, CORES, CORES]);
    // It survives its measurement, and is in the next welcome.
    expect(await placementOf()).toMatchObject({ id, configuration, sweep: [{ rows: 1 }, { rows: 2 }, { rows: 4 }] });
    const { placed } = await connect();
    expect(placed.find(({ modelVersionId }) => modelVersionId === versionId)?.places).toMatchObject([
      { configuration },
    ]);
  });

  it("keeps its measurements where a calibration measured under another configuration", async () => {
    const { id } = await placementOf();
    const before = await callEdge("POST", "/v1/jobs", {
      body: { kind: "calibration", modelVersionId: versionId, runnerId: runner.runnerId },
    });
    const running = await nextCalibration();
    expect(running.lease.jobId).toBe(before.json.id);
    const configuration = { ...DEFAULT_CONFIGURATION, maxRows: 2 };
    // The running one does not have it: another is queued.
    const { headers } = await configure(id, configuration);
    const anew = await nextCalibration();
    expect(headers.get("location")).toBe(`/v1/jobs/${anew.lease.jobId}`);
    expect(anew.lease.jobId).not.toBe(running.lease.jobId);
    await settle(running, measured(DEFAULT_CONFIGURATION, 9));
    expect((await placementOf()).sweep).toHaveLength(1);
    // The limit in flight does not affect the measurements.
    await settle(anew, measured({ ...configuration, maxInFlight: 3 }, 2));
    expect(await placementOf()).toMatchObject({ configuration, sweep: [{ serviceMs: { p50: 2 } }, {}, {}] });
  });

  it("gets its configuration when it comes back, and is measured then", async () => {
    const { id } = await placementOf();
    scripted.socket.close();
    await untilOffline(runner.runnerId);
    const configuration = { ...DEFAULT_CONFIGURATION, maxInFlight: 1 };
    const first = await configure(id, configuration);
    expect(first.status).toBe(202);
    // One calibration is enough, however often it is requested.
    expect((await configure(id, configuration)).headers.get("location")).toBe(first.headers.get("location"));
    const { placed } = await connect();
    expect(placed.find(({ modelVersionId }) => modelVersionId === versionId)?.places).toMatchObject([
      { configuration },
    ]);
    expect(`/v1/jobs/${(await nextCalibration()).lease.jobId}`).toBe(first.headers.get("location"));
  });

  it("is refused what it cannot be served by, and stays what it was", async () => {
    const { id } = await placementOf();
    const wrong: [unknown, string][] = [
      [{ threads: CORES + 1 }, "#/threads"],
      [{ threads: 0 }, "#/threads"],
      [{ threads: LIMITS.intraOpThreads + 1 }, "#/threads"],
      [{ maxRows: 0 }, "#/maxRows"],
      [{ maxRows: LIMITS.batchRows + 1 }, "#/maxRows"],
      [{ maxInFlight: 0 }, "#/maxInFlight"],
      [{ maxInFlight: LIMITS.deviceQueueRequests + 1 }, "#/maxInFlight"],
      [{ cores: 2 }, "#/cores"],
    ];
    for (const [body, pointer] of wrong) {
      const reply = await configure(id, body);
      expect([reply.status, pointersOf(reply)], JSON.stringify(body)).toEqual([400, [pointer]]);
    }
    const { secret } = await createKey(["read"]);
    expect(problemOf(await configure(id, { threads: 1 }, secret)).code).toBe("forbidden");
    expect(problemOf(await configure(missingId.placement, { threads: 1 })).code).toBe("not-found");
    await env.DB.prepare("update placements set backend = 'ort-webgpu' where id = ?").bind(id).run();
    expect(pointersOf(await configure(id, { threads: 2 }))).toEqual(["#/threads"]);
    await env.DB.prepare("update placements set backend = 'edge-wasm' where id = ?").bind(id).run();
    expect(problemOf(await configure(id, { maxInFlight: 1 })).code).toBe("conflict");
    expect((await placementOf()).configuration).toEqual(DEFAULT_CONFIGURATION);
  });

  it("is given a configuration with all that was found out under it, once or twice", async () => {
    const { id, linkMs } = await placementOf();
    const configuration = { threads: 2, maxRows: 4, maxInFlight: null };
    const [found] = measured(configuration, 3).placements;
    const validated: Placement["validated"] = {
      runId: missingId.run,
      at: "2026-11-21T10:00:00.000Z",
      verdict: "pass",
      serviceMs: null,
      requirements: [],
    };
    const db = openProject(mainEnv);
    const applied = await applyConfiguration(db, id, { configuration, measured: found!, validated });
    expect(applied).toMatchObject({ id, configuration, validated, linkMs, sweep: found!.sweep, state: "eligible" });
    await applyConfiguration(db, id, { configuration, measured: found!, validated });
    expect(await findPlacement(db, id)).toEqual({ ...applied, updatedAt: expect.any(String) });
    // The same configuration again keeps its validation; another one does not.
    expect((await configure(id, configuration)).json.validated).toEqual(validated);
    expect((await configure(id, { ...configuration, maxRows: 2 })).json).toMatchObject({ validated: null });
    expect(await applyConfiguration(db, missingId.placement, { configuration, measured: null, validated })).toBeNull();
  });
});

describe("a request that names its placement", () => {
  it("gets that one, or an error where there is none", async () => {
    const { id } = await placementOf();
    const pending = infer({ placementId: id });
    const { offer } = await scripted.nextInfer();
    scripted.answer(offer, [
      { name: "y", dtype: "float32", shape: [1, 1], bytes: new Uint8Array(Float32Array.of(1).buffer) },
    ]);
    expect((await pending).json.placement.id).toBe(id);
    const refused = problemOf(await infer({ placementId: missingId.placement }));
    expect(refused.code).toBe("no-placement");
    expect(refused.detail).toContain(missingId.placement);
    expect(pointersOf(await infer({ placementId: "plc_x" }))).toEqual(["#/placementId"]);
  });

  it("is refused as overloaded where its runner reports that the limit in flight is reached", async () => {
    const { id } = await placementOf();
    // An edge that has just looked for a model looks again a moment later.
    await vi.waitFor(
      async () => expect(problemOf(await infer({ placementId: missingId.placement })).code).toBe("no-placement"),
      BOUND,
    );
    const pending = infer({ placementId: id });
    const { offer } = await scripted.nextInfer();
    const problem = createProblem("overloaded", "As many requests of the model are in flight as may be.", {
      retryAfterMs: 7,
    });
    scripted.send({ type: "inferFailed", requestId: offer.requestId, problem });
    expect(problemOf(await pending)).toMatchObject({ code: "overloaded" });
  });
});
