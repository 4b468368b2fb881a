import { beforeEach, describe, expect, it } from "vitest";
import type { CalibrationResult } from "../../../src/protocol/jobs/calibration.ts";
import type { Capabilities, Device } from "../../../src/protocol/fleet/hardware.ts";
import type { Job } from "../../../src/protocol/jobs/job.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { callEdge, missingId, pointersOf, problemOf, type RegisteredRunner } from "../stack/edge-client.ts";
import { newRunner } from "../stack/queue-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { calibrationResult, capabilities } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { cartpole, variantOf } from "../stack/zoo.ts";

const OCTETS = { "content-type": "application/octet-stream" };
let uploads = 0;

const uploadVersion = async (name: string) =>
  (await callEdge("POST", `/v1/models?name=${name}`, { body: variantOf(cartpole, ++uploads), headers: OCTETS })).json;
const uploadVariant = (name: string, variant: string) =>
  callEdge("POST", `/v1/models/${name}/versions/1/variants?name=${variant}`, {
    body: variantOf(cartpole, ++uploads),
    headers: OCTETS,
  });
const setRule = (name: string, body: unknown) => callEdge("PUT", `/v1/models/${name}/placement`, { body });
const placementsOf = async (name: string) => (await callEdge("GET", `/v1/models/${name}/placements`)).json.items;

/** Runners that still have to calibrate a version, or are doing so. */
async function owing(modelVersionId: string): Promise<string[]> {
  const ids = new Set<string>();
  // In this order, so that none is missed that is given to its runner meanwhile.
  for (const state of ["queued", "leased"]) {
    const { items } = (await callEdge("GET", `/v1/jobs?limit=200&kind=calibration&state=${state}`)).json;
    for (const { id } of items) ids.add(id);
  }
  const full: Job[] = [];
  // One after the other: too many at once would be refused on a busy machine.
  for (const id of ids) full.push((await callEdge("GET", `/v1/jobs/${id}`)).json);
  return full
    .filter(({ spec }) => spec.kind === "calibration" && spec.modelVersionId === modelVersionId)
    .filter(({ state }) => state === "queued" || state === "leased")
    .map(({ spec }) => spec.runnerId as string)
    .toSorted();
}

async function connect(runner: RegisteredRunner, own: Capabilities = capabilities) {
  const scripted = await ScriptedRunner.connect(runner);
  scripted.send({ type: "hello", capabilities: own, running: [] });
  return { scripted, welcome: await scripted.next("welcome") };
}

/** Takes the calibration of a version, ignoring other offers before it. */
async function calibrate(scripted: ScriptedRunner, result: CalibrationResult): Promise<void> {
  let offer = await scripted.next("offer");
  while (offer.model?.modelVersionId !== result.modelVersionId) offer = await scripted.next("offer");
  scripted.succeed(offer, result);
  await scripted.next("jobSettled");
}

let name = "";
let [one, two]: RegisteredRunner[] = [];
let [first, second]: ScriptedRunner[] = [];
const roomy = { ...capabilities, jobSlots: 16 };
beforeEach(async () => {
  name = `ruled-${++uploads}`;
  one = await newRunner();
  two = await newRunner();
  first = (await connect(one, roomy)).scripted;
  second = (await connect(two, roomy)).scripted;
});

describe("a model's placement", () => {
  it("is automatic at first: every runner measures its latest version", async () => {
    const { model, version } = await uploadVersion(name);
    expect(model.placement).toEqual({ kind: "automatic" });
    expect(await owing(version.id)).toEqual(expect.arrayContaining([one!.runnerId, two!.runnerId]));
  });

  it("can be pinned: only those runners measure and serve it", async () => {
    const { version } = await uploadVersion(name);
    await calibrate(first!, calibrationResult(version.id));
    await calibrate(second!, calibrationResult(version.id));
    expect(await placementsOf(name)).toHaveLength(2);

    const rule = { kind: "pinned", runnerIds: [two!.runnerId] };
    const reply = await setRule(name, rule);
    expect(reply.status).toBe(200);
    expect(reply.json).toMatchObject({ name, placement: rule });
    expect((await callEdge("GET", `/v1/models/${name}`)).json.placement).toEqual(rule);
    expect(await placementsOf(name)).toMatchObject([{ runnerId: two!.runnerId }]);

    const next = await uploadVersion(name);
    expect(await owing(next.version.id)).toEqual([two!.runnerId]);
    const { welcome } = await connect(one!, roomy);
    expect(welcome.placed.map(({ modelVersionId }) => modelVersionId)).not.toContain(version.id);
    expect(await owing(next.version.id)).toEqual([two!.runnerId]);
  });

  it("gives calibrations to the runners that a new rule adds, and to no other", async () => {
    const { version } = await uploadVersion(name);
    await calibrate(first!, calibrationResult(version.id));
    await calibrate(second!, calibrationResult(version.id));
    await setRule(name, { kind: "pinned", runnerIds: [one!.runnerId] });
    expect(await owing(version.id)).toEqual([]);
    await setRule(name, { kind: "automatic" });
    expect(await owing(version.id)).toContain(two!.runnerId);
    expect(await owing(version.id)).not.toContain(one!.runnerId);
  });

  it("can be by hardware profile", async () => {
    const large = { ...roomy, hardware: { ...capabilities.hardware, memoryBytes: 64 * 2 ** 30 } };
    second = (await connect(two!, large)).scripted;
    const profile = { name, requirements: { minMemoryBytes: 32 * 2 ** 30 } };
    expect((await callEdge("POST", "/v1/profiles", { body: profile })).status).toBe(201);
    await uploadVersion(name);
    expect((await setRule(name, { kind: "profile", profile: name })).status).toBe(200);
    const { version } = await uploadVersion(name);
    expect(await owing(version.id)).toEqual([two!.runnerId]);
    await calibrate(second, calibrationResult(version.id));

    const inUse = await callEdge("DELETE", `/v1/profiles/${name}`);
    expect(problemOf(inUse)).toMatchObject({ code: "conflict", errors: [{ pointer: "path/name" }] });
    // With less memory it does not fit any more when it comes back.
    expect((await connect(two!, roomy)).welcome.placed).toEqual([]);
    await setRule(name, { kind: "automatic" });
    expect((await callEdge("DELETE", `/v1/profiles/${name}`)).status).toBe(204);
  });

  it("is not got round: a calibration elsewhere measures and places nothing", async () => {
    const { version } = await uploadVersion(name);
    await setRule(name, { kind: "pinned", runnerIds: [two!.runnerId] });
    await calibrate(first!, calibrationResult(version.id));
    expect(await placementsOf(name)).toEqual([]);
    const series = await callEdge("GET", `/v1/history/series?subject=${name}@1&metric=serviceMs`);
    expect(series.json.items).toMatchObject([{ points: 1 }]);
  });

  it("is refused where it makes no sense, and stays what it was", async () => {
    await uploadVersion(name);
    const pinned = (runnerIds: unknown) => ({ kind: "pinned", runnerIds });
    const wrong: [unknown, string[]][] = [
      [pinned([one!.runnerId, missingId.runner]), ["#/runnerIds/1"]],
      [pinned([]), ["#/runnerIds"]],
      [pinned(["somebody"]), ["#/runnerIds/0"]],
      [pinned(Array.from({ length: LIMITS.pinnedRunners + 1 }, () => one!.runnerId)), ["#/runnerIds"]],
      [{ kind: "profile", profile: "nobody" }, ["#/profile"]],
      [{ kind: "profile" }, ["#/profile"]],
      [{ kind: "automatic", profile: "balanced" }, ["#/profile"]],
      [{ kind: "elsewhere" }, ["#/kind"]],
    ];
    for (const [body, pointers] of wrong) {
      const reply = await setRule(name, body);
      expect([reply.status, problemOf(reply).code], JSON.stringify(body)).toEqual([400, "invalid-request"]);
      expect(pointersOf(reply), JSON.stringify(body)).toEqual(pointers);
    }
    const most = pinned(Array.from({ length: LIMITS.pinnedRunners }, () => one!.runnerId));
    expect((await setRule(name, most)).status).toBe(200);
    expect((await setRule("absent", { kind: "automatic" })).status).toBe(404);
  });
});

describe("a runner's models and calibrations", () => {
  const gpu: Device = { ...capabilities.devices[1]!, key: "ort-gpu0", backends: ["ort-webgpu"] };
  const withGpu: Capabilities = { ...roomy, devices: [...capabilities.devices, gpu] };

  /** A result for the CPU, and for the GPU where the outputs disagree. */
  function measured(modelVersionId: string): CalibrationResult {
    const result = calibrationResult(modelVersionId);
    const [cpu] = result.placements;
    const { key: deviceKey, fingerprint } = gpu;
    const environment = { ...cpu!.environment, deviceKey, fingerprint };
    const wrong = { ...cpu!, deviceKey, backend: "ort-webgpu" as const, agrees: false, environment };
    return { ...result, placements: [cpu!, wrong] };
  }

  it("names every place that is eligible, and none that disagreed, which is shown as failed", async () => {
    first = (await connect(one!, withGpu)).scripted;
    const { version } = await uploadVersion(name);
    await setRule(name, { kind: "pinned", runnerIds: [one!.runnerId] });
    await calibrate(first, measured(version.id));
    const shown = (await placementsOf(name)).map(({ deviceKey, backend, state, fidelity }: Record<string, unknown>) => [
      deviceKey,
      backend,
      state,
      fidelity,
    ]);
    expect(shown.toSorted()).toEqual([
      ["cpu", "ort-cpu", "eligible", 1],
      ["ort-gpu0", "ort-webgpu", "failed", null],
    ]);
    const { welcome } = await connect(one!, withGpu);
    expect(welcome.placed).toMatchObject([
      { modelVersionId: version.id, places: [{ deviceKey: "cpu", variant: "fp32" }] },
    ]);
    // A failed placement was measured: it is not measured again with every connection.
    expect(await owing(version.id)).not.toContain(one!.runnerId);
  });

  it("is a calibration again where a device came that serves models", async () => {
    const { version } = await uploadVersion(name);
    await setRule(name, { kind: "pinned", runnerIds: [one!.runnerId] });
    await calibrate(first!, calibrationResult(version.id));
    await connect(one!, roomy);
    expect(await owing(version.id)).not.toContain(one!.runnerId);
    await connect(one!, withGpu);
    // It is queued behind the welcome.
    await expect.poll(() => owing(version.id), BOUND).toContain(one!.runnerId);
  });

  it("is a second calibration where a variant came while the first one ran", async () => {
    const { version } = await uploadVersion(name);
    await setRule(name, { kind: "pinned", runnerIds: [one!.runnerId] });
    let offer = await first!.next("offer");
    while (offer.model?.modelVersionId !== version.id) offer = await first!.next("offer");
    expect(offer.model?.variants.map((variant) => variant.name)).toEqual(["fp32"]);
    expect((await uploadVariant(name, "int8")).status).toBe(201);
    const again = await first!.next("offer");
    expect(again.model?.variants.map((variant) => variant.name)).toEqual(["fp32", "int8"]);
    expect(await owing(version.id)).toEqual([one!.runnerId, one!.runnerId, two!.runnerId].toSorted());
  });
});
