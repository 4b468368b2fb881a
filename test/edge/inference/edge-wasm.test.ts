import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { EDGE_DEVICE_KEY, EDGE_RUNNER_ID } from "../../../src/protocol/models/edge-place.ts";
import { InferReply } from "../../../src/protocol/inference/inference.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { OipStats } from "../../../src/protocol/inference/oip.ts";
import type { CalibrationResult } from "../../../src/protocol/jobs/calibration.ts";
import { callEdge, pointersOf, problemOf, type RegisteredRunner, registerRunner } from "../stack/edge-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { calibrationResult, distribution } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { type FileTensor, writeDenseFile } from "../stack/dense-file.ts";
import { lenet5, variantOf } from "../stack/zoo.ts";

const OBSERVATION = [0.01, -0.02, 0.03, 0.04];

/** 4-128-128-2 with tanh between: enough for weights of one byte. */
const PARAMETERS = 4 * 128 + 128 + 128 * 128 + 128 + 128 * 2;
const tensor = (...dims: number[]): FileTensor => {
  const size = dims.reduce((product, each) => product * each, 1);
  return { dims, floats: Array.from({ length: size }, (_, i) => Math.sin(i * i + dims.length) / 8) };
};
const writeWide = (first = tensor(4, 128)) =>
  writeDenseFile({
    input: [-1, 4],
    output: [-1, 2],
    tensors: { u: first, a: tensor(128), v: tensor(128, 128), b: tensor(128), w: tensor(128, 2) },
    nodes: [
      { operator: "Gemm", inputs: ["x", "u", "a"], output: "p" },
      { operator: "Tanh", inputs: ["p"], output: "q" },
      { operator: "Gemm", inputs: ["q", "v", "b"], output: "r" },
      { operator: "Tanh", inputs: ["r"], output: "s" },
      { operator: "MatMul", inputs: ["s", "w"], output: "y" },
    ],
  });
const wide = writeWide();
/** The same with weights of its own, so that it is another file. */
const otherWide = (factor: number) => writeWide({ dims: [4, 128], floats: Array.from({ length: 512 }, () => factor) });

let runner: RegisteredRunner;
let scripted: ScriptedRunner;
let versionId = "";

const upload = (name: string, body: Uint8Array) =>
  callEdge("POST", `/v1/models?name=${name}`, { body, headers: { "content-type": "application/octet-stream" } });
const runAtEdge = (changes: object = {}, key = runner.credential) =>
  callEdge("POST", "/v1/link/edge-runs", {
    key,
    body: { modelVersionId: versionId, variant: "fp32", seed: 1, ...changes },
  });
const infer = (rows: number[][] = [OBSERVATION], changes: object = {}) =>
  callEdge("POST", "/v1/infer", {
    body: { model: "wide", budgetMs: 60_000, inputs: { x: { data: rows } }, ...changes },
  });

/** A runner's result: its own placement, and two at the edge that are faster. */
function withEdge(modelVersionId: string): CalibrationResult {
  const result = calibrationResult(modelVersionId);
  const [own] = result.placements;
  const atEdge = (variant: string, fidelity: number) => ({
    ...own!,
    deviceKey: EDGE_DEVICE_KEY,
    variant,
    backend: "edge-wasm" as const,
    fidelity,
    sweep: [1, 8, LIMITS.edgeRows].map((rows) => ({ rows, serviceMs: distribution([0.001 * rows]) })),
    linkMs: distribution([0.01]),
    // One that was not loaded in time would not be asked where a runner is sooner.
    loadMs: 0,
  });
  // The last is not of the edge.
  return { ...result, placements: [own!, atEdge("fp32", 1), atEdge("edge-int8", 0.9), atEdge("int4", 0.95)] };
}

beforeAll(async () => {
  runner = await registerRunner();
  scripted = await ScriptedRunner.online(runner);
  versionId = (await upload("wide", wide)).json.version.id;
  const offer = await scripted.next("offer");
  expect(offer.edge).toEqual({ variants: ["fp32", "edge-int8"] });
  scripted.succeed(offer, withEdge(versionId));
  expect((await scripted.next("jobSettled")).stored).toBe(true);
  await vi.waitFor(
    async () => expect((await infer([OBSERVATION], { runnerId: EDGE_RUNNER_ID })).status).toBe(200),
    BOUND,
  );
});

describe("a network that the edge can compute", () => {
  it("is known when it is uploaded", async () => {
    expect((await callEdge("GET", "/v1/models/wide")).json.versions[0].edgeParameters).toBe(PARAMETERS);
    const other = (await upload("lenet5", lenet5)).json.version;
    expect(other.edgeParameters).toBeNull();
    const offer = await scripted.next("offer");
    expect(offer).not.toHaveProperty("edge");
    // A wrong runner places nothing there.
    scripted.succeed(offer, withEdge(other.id));
    await scripted.next("jobSettled");
    const { items } = (await callEdge("GET", "/v1/models/lenet5/placements")).json;
    expect(items.map(({ backend }: { backend: string }) => backend)).toEqual(["ort-cpu"]);
  });

  it("is known when the same file comes again, where it was stored before the edge computed any", async () => {
    await env.DB.prepare("update model_versions set edge_parameters = null where id = ?").bind(versionId).run();
    const again = await upload("wide", wide);
    expect(again).toMatchObject({ status: 200, json: { version: { id: versionId, edgeParameters: PARAMETERS } } });
    const offer = await scripted.next("offer");
    expect(offer.edge).toBeDefined();
    scripted.succeed(offer, withEdge(versionId));
    expect((await scripted.next("jobSettled")).stored).toBe(true);
  });

  it("has no file of a name that the edge gives to what it makes of the version's own", async () => {
    for (const name of ["fp32", "edge-int8"]) {
      const body = variantOf(wide, 1);
      const headers = { "content-type": "application/octet-stream" };
      const path = `/v1/models/wide/versions/1/variants?name=${name}&fidelity=0.5`;
      expect(problemOf(await callEdge("POST", path, { body, headers })).code).toBe("conflict");
    }
  });

  it("has placements there that belong to no runner", async () => {
    const { items } = (await callEdge("GET", "/v1/models/wide/placements")).json;
    const atEdge = items.filter(({ backend }: { backend: string }) => backend === "edge-wasm");
    const byFidelity = (a: { fidelity: number }, b: { fidelity: number }) => b.fidelity - a.fidelity;
    expect(atEdge.toSorted(byFidelity)).toMatchObject(
      [1, 0.9].map((fidelity) => ({
        runnerId: EDGE_RUNNER_ID,
        deviceKey: EDGE_DEVICE_KEY,
        state: "eligible",
        fidelity,
        linkMs: { max: 0.01 },
      })),
    );
    const runners = (await callEdge("GET", "/v1/runners")).json.items;
    expect(runners.map(({ id }: { id: string }) => id)).not.toContain(EDGE_RUNNER_ID);
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["POST", "/drain"],
      ["POST", "/rotate"],
    ] as const) {
      expect((await callEdge(method, `/v1/runners/${EDGE_RUNNER_ID}${path}`)).status).toBe(404);
    }
    expect((await callEdge("GET", "/v1/models/wide/placements")).json.items).toHaveLength(items.length);
  });

  it("is answered without any runner, as it is computed for one", async () => {
    const reply = InferReply.parse((await infer()).json);
    expect(reply).toMatchObject({
      placement: { runnerId: EDGE_RUNNER_ID, backend: "edge-wasm", variant: "fp32", fidelity: 1, batch: 1 },
      latency: { linkMs: 0, computeMs: 0 },
      budgetMet: true,
    });
    expect(reply.outputs["y"]?.shape).toEqual([1, 2]);
    // The way holds what had passed since the arrival, in whole milliseconds.
    expect(reply.prediction.linkMs % 1).toBeCloseTo(0.01, 3);
    expect(reply.prediction.serviceMs).toBeCloseTo(0.001, 3);
    const several = InferReply.parse((await infer([[1, 2, 3, 4], OBSERVATION, [4, 3, 2, 1]])).json);
    expect(several.outputs["y"]?.shape).toEqual([3, 2]);
    expect(several.outputs["y"]?.data.slice(2, 4)).toEqual(reply.outputs["y"]?.data);
    // Three rows fit the step of eight.
    expect(several.prediction.serviceMs).toBeCloseTo(0.008, 3);
    expect(scripted.frames).toEqual([]);
  });

  it("goes to the runner that is named, and where it has more rows than the edge takes", async () => {
    const rows = Array.from({ length: LIMITS.edgeRows + 1 }, () => OBSERVATION);
    const output = (count: number) => ({
      name: "y",
      dtype: "float32" as const,
      shape: [count, 2],
      bytes: new Uint8Array(8 * count),
    });
    const large = infer(rows);
    scripted.answer((await scripted.nextInfer()).offer, [output(rows.length)]);
    expect((await large).json.placement.runnerId).toBe(runner.runnerId);
    const named = infer([OBSERVATION], { runnerId: runner.runnerId });
    scripted.answer((await scripted.nextInfer()).offer, [output(1)]);
    expect((await named).json.placement.runnerId).toBe(runner.runnerId);
  });

  it("leaves its requests in the history, where they count as answered, each as one execution", async () => {
    const [stats] = OipStats.parse((await callEdge("GET", "/v2/models/wide/stats")).json).model_stats;
    // The first shows that the model is placed; one of the others has three rows.
    const count = 5;
    expect(stats?.inference_stats).toMatchObject({
      success: { count },
      fail: { ns: 0 },
      queue: { count },
      compute_input: { count },
      compute_infer: { count },
      compute_output: { count },
    });
    expect(stats?.inference_count).toBe(1 + 1 + 3 + (LIMITS.edgeRows + 1) + 1);
    expect(stats?.execution_count).toBe(count);
    await vi.waitFor(async () => {
      const { items } = (await callEdge("GET", "/v1/history/series?subject=wide@1&metric=totalMs")).json;
      const backends = items.map(({ configuration }: { configuration: { backend: string } }) => configuration.backend);
      expect(backends).toContain("edge-wasm");
    }, BOUND);
  });
});

describe("what the edge alone answers", () => {
  it("is not judged by a clock that stands still", async () => {
    await vi.waitFor(async () => {
      const { items } = (await callEdge("GET", "/v1/history/calibration?model=wide@1")).json;
      const backends = items.map(({ backend }: { backend: string }) => backend);
      expect(backends).toContain("ort-cpu");
      expect(backends).not.toContain("edge-wasm");
    }, BOUND);
  });

  it("is answered by a runner where the weights cannot be had", async () => {
    const { version } = (await upload("gone", otherWide(0.1))).json;
    scripted.succeed(await scripted.next("offer"), withEdge(version.id));
    expect((await scripted.next("jobSettled")).stored).toBe(true);
    await env.ARTIFACTS.delete(`artifacts/${version.digest.replace(":", "/")}`);
    const pending = infer([OBSERVATION], { model: "gone" });
    const output = { name: "y", dtype: "float32" as const, shape: [1, 2], bytes: new Uint8Array(8) };
    scripted.answer((await scripted.nextInfer()).offer, [output]);
    const reply = InferReply.parse((await pending).json);
    expect(reply.placement.runnerId).toBe(runner.runnerId);
    expect(reply.faults).toMatchObject([{ code: "no-placement", action: "retried-elsewhere" }]);
    const alone = { model: "gone", runnerId: EDGE_RUNNER_ID };
    await vi.waitFor(
      async () => expect(problemOf(await infer([OBSERVATION], alone)).detail).toContain("could not load"),
      BOUND,
    );
    expect(problemOf(await infer([OBSERVATION], alone))).toMatchObject({ code: "no-placement", status: 503 });
  });

  it("goes by the rule: another one than automatic keeps the edge out, until a calibration brings it back", async () => {
    const { version } = (await upload("ruled", otherWide(0.2))).json;
    const backends = async () => {
      const { items } = (await callEdge("GET", "/v1/models/ruled/placements")).json;
      return items.map(({ backend }: { backend: string }) => backend).toSorted();
    };
    const calibrate = async () => {
      const offer = await scripted.next("offer");
      scripted.succeed(offer, withEdge(version.id));
      await scripted.next("jobSettled");
      return offer;
    };
    await calibrate();
    expect(await backends()).toEqual(["edge-wasm", "edge-wasm", "ort-cpu"]);
    await callEdge("PUT", "/v1/models/ruled/placement", { body: { kind: "pinned", runnerIds: [runner.runnerId] } });
    expect(await backends()).toEqual(["ort-cpu"]);
    // Nor does a calibration on request.
    const job = { kind: "calibration", modelVersionId: version.id, runnerId: runner.runnerId };
    expect((await callEdge("POST", "/v1/jobs", { body: job })).status).toBe(202);
    expect(await calibrate()).not.toHaveProperty("edge");
    expect(await backends()).toEqual(["ort-cpu"]);
    await callEdge("PUT", "/v1/models/ruled/placement", { body: { kind: "automatic" } });
    expect(await calibrate()).toHaveProperty("edge");
    expect(await backends()).toEqual(["edge-wasm", "edge-wasm", "ort-cpu"]);
  });
});

describe("a run at the edge for a runner", () => {
  let held: Awaited<ReturnType<typeof scripted.next<"offer">>>;
  beforeAll(async () => {
    const job = { kind: "calibration", modelVersionId: versionId, runnerId: runner.runnerId };
    expect((await callEdge("POST", "/v1/jobs", { body: job })).status).toBe(202);
    held = await scripted.next("offer");
  });

  it("answers the same for the same seed, and nearly so with weights of one byte", async () => {
    const [once, often, other, bytes] = await Promise.all([
      runAtEdge(),
      runAtEdge({ repetitions: 50, fresh: true }),
      runAtEdge({ seed: 2 }),
      runAtEdge({ variant: "edge-int8" }),
    ]);
    expect(once.json).toMatchObject({ outputs: { y: { shape: [1, 2] } }, sizeBytes: expect.any(Number) });
    expect(often.json).toEqual(once.json);
    expect(other.json.outputs).not.toEqual(once.json.outputs);
    const [wanted, found] = [once, bytes].map(({ json }) => json.outputs.y.data as number[]);
    expect(found).not.toEqual(wanted);
    found!.forEach((value, i) => expect(Math.abs(value - wanted![i]!)).toBeLessThan(0.1));
    const rows = await runAtEdge({ rows: LIMITS.edgeRows });
    expect(rows.json.outputs.y.shape).toEqual([LIMITS.edgeRows, 2]);
  });

  it("is refused to a runner that has nothing to do with it, and of what is not dense", async () => {
    const stranger = await registerRunner();
    expect(problemOf(await runAtEdge({}, stranger.credential)).code).toBe("not-found");
    const other = (await upload("conv", variantOf(lenet5, 9))).json.version.id;
    expect(problemOf(await runAtEdge({ modelVersionId: other })).code).toBe("not-found");
  });

  it("is refused with each wrong field named, and where it would take too long", async () => {
    for (const [field, value] of Object.entries({
      modelVersionId: "ver_x",
      variant: "fp16",
      seed: -1,
      rows: LIMITS.edgeRows + 1,
      repetitions: LIMITS.edgeRepetitions + 1,
      fresh: "yes",
      budgetMs: 1,
    })) {
      const reply = await runAtEdge({ [field]: value });
      expect(reply.status, field).toBe(400);
      expect(pointersOf(reply)).toEqual([`#/${field}`]);
    }
    const { rowProducts } = (await runAtEdge()).json;
    expect(rowProducts).toBeGreaterThan(PARAMETERS);
    const most = Math.floor(LIMITS.edgeRunProducts / (rowProducts * LIMITS.edgeRows));
    expect((await runAtEdge({ rows: LIMITS.edgeRows, repetitions: most })).status).toBe(200);
    const long = await runAtEdge({ rows: LIMITS.edgeRows, repetitions: most + 1 });
    expect(long.status).toBe(400);
    expect(pointersOf(long)).toEqual(["#/repetitions"]);
  });

  it("lets other requests come between where it takes long", async () => {
    const { rowProducts } = (await runAtEdge()).json;
    const most = Math.floor(LIMITS.edgeRunProducts / (rowProducts * LIMITS.edgeRows));
    const countTurns = async (repetitions: number) => {
      const timers = vi.spyOn(globalThis, "setTimeout");
      expect((await runAtEdge({ rows: LIMITS.edgeRows, repetitions })).status).toBe(200);
      const turns = timers.mock.calls.filter(([, delayMs]) => delayMs === 0).length;
      timers.mockRestore();
      return turns;
    };
    expect((await countTurns(most)) - (await countTurns(1))).toBeGreaterThanOrEqual(3);
  });

  it("is refused once its calibration has ended, though the network stays placed", async () => {
    expect((await runAtEdge()).status).toBe(200);
    scripted.succeed(held, withEdge(versionId));
    expect((await scripted.next("jobSettled")).stored).toBe(true);
    expect(problemOf(await runAtEdge()).code).toBe("not-found");
  });
});
