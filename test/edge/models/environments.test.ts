import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { readOfferContext } from "../../../src/edge/kinds/registry.ts";
import { hasSharers, resolveEnvironment, takesEnvironment } from "../../../src/edge/kinds/subjects/rollouts.ts";
import { openProject } from "../../../src/edge/store/database.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { TrainingSpec } from "../../../src/protocol/jobs/training.ts";
import { callEdge, createKey, mainEnv, missingId, pointersOf, problemOf, type Sent } from "../stack/edge-client.ts";
import { counter } from "../stack/environment-samples.ts";
import { capabilities } from "../stack/samples.ts";

let names = 0;
const fresh = () => ({ ...counter, name: `counter-${names++}` });
const submit = (body: object, sent: Sent = {}) => callEdge("POST", "/v1/environments", { body, ...sent });
const db = () => openProject(mainEnv);
const specOf = (environment: string) =>
  TrainingSpec.parse({ kind: "training", environment, algorithm: { name: "openes" } });

describe("an environment that is submitted", () => {
  it("is stored once, listed without its program, and found by name and id", async () => {
    const body = fresh();
    const { status, json, headers } = await submit(body);
    expect(status).toBe(201);
    expect(json).toMatchObject({ ...body, source: "submitted", id: expect.stringMatching(/^env_/) });
    expect(headers.get("location")).toBe(`/v1/environments/${json.id}`);
    expect(await submit(body)).toMatchObject({ status: 200, json });
    const { wgsl: _, stateWords: __, ...listed } = json;
    expect((await callEdge("GET", "/v1/environments")).json.items).toContainEqual(listed);
    for (const key of [body.name, json.id]) {
      expect((await callEdge("GET", `/v1/environments/${key}`)).json).toEqual(json);
    }
  });

  it("keeps its name to itself", async () => {
    const body = fresh();
    await submit(body);
    expect(problemOf(await submit({ ...body, stepLimit: 11 })).code).toBe("conflict");
    const { secret } = await createKey(["submit"]);
    expect(problemOf(await submit(body, { key: secret })).code).toBe("conflict");
  });

  it("is one of so many of its key", async () => {
    const { id, secret } = await createKey(["submit"]);
    await env.DB.prepare(
      `insert into environments (id, project, name, key_id, definition, digest, created_at_ms)
       with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)
       select 'env_' || printf('%026d', i), 'main', 'held-' || i, ?1, '{}', '', 1 from n`,
    )
      .bind(id, LIMITS.environmentsPerKey - 1)
      .run();
    expect((await submit(fresh(), { key: secret })).status).toBe(201);
    expect(problemOf(await submit(fresh(), { key: secret })).code).toBe("conflict");
    await env.DB.prepare("delete from environments where key_id = ?").bind(id).run();
  });

  it("is deleted by its key or an admin", async () => {
    const [owner, other] = await Promise.all([createKey(["submit"]), createKey(["submit"])]);
    const { id } = (await submit(fresh(), { key: owner.secret })).json;
    const path = `/v1/environments/${id}`;
    expect(problemOf(await callEdge("DELETE", path, { key: other.secret })).code).toBe("forbidden");
    expect((await callEdge("DELETE", path, { key: owner.secret })).status).toBe(204);
    expect(problemOf(await callEdge("GET", path)).code).toBe("not-found");
  });

  it("goes with the jobs that name it", async () => {
    const body = fresh();
    const { id, digest } = (await submit(body)).json;
    const { environment } = await readOfferContext(db(), specOf(id), missingId.runner);
    expect(environment).toEqual({ id, digest, definition: body });
    expect(await readOfferContext(db(), specOf("cartpole"), missingId.runner)).toEqual({ model: null });
  });
});

describe("a submission that is wrong", () => {
  it.each<[string, object, string]>([
    ["an unknown field", { colour: 1 }, "#/colour"],
    ["an unknown field inside", { action: { ...counter.action, size: 1 } }, "#/action/size"],
    ["a name like an id", { name: missingId.environment }, "#/name"],
    ["bounds the wrong way round", { action: { kind: "continuous", size: 1, low: 1, high: 1 } }, "#/action/high"],
    ["scores the wrong way round", { scores: { worst: 1, best: 0, solvedAt: null } }, "#/scores/best"],
    ["frames of another size", { frames: true }, "#/observationSize"],
    ["more numbers than policies take", { observationSize: LIMITS.policyWidth + 1 }, "#/observationSize"],
    ["too much WGSL", { wgsl: " ".repeat(LIMITS.environmentWgslLength + 1) }, "#/wgsl"],
    ["too large a state", { stateWords: LIMITS.environmentStateWords + 1 }, "#/stateWords"],
    ["no state", { wgsl: counter.wgsl.replace("State {", "Other {") }, "#/wgsl"],
    ["no step but in a comment", { wgsl: counter.wgsl.replace("fn step", "// fn step\nfn leap") }, "#/wgsl"],
    ["no measure where it has measures", { measures: 1 }, "#/wgsl"],
    ["an entry point", { wgsl: `${counter.wgsl}\n@compute @workgroup_size(1) fn main() {}` }, "#/wgsl"],
    ["a buffer", { wgsl: `${counter.wgsl}\n@group(0) @binding(9) var<storage> mine: u32;` }, "#/wgsl"],
    ["a buffer behind a comment that ends otherwise", { wgsl: `${counter.wgsl}\n//\u2028@binding(9)` }, "#/wgsl"],
    ["a directive", { wgsl: `enable f16;\n${counter.wgsl}` }, "#/wgsl"],
  ])("has %s", async (_name, changes, pointer) => {
    expect(pointersOf(await submit({ ...fresh(), ...changes }))).toContain(pointer);
  });
});

describe("the environment that a job names", () => {
  const { wgsl: _, stateWords: __, ...announcedAs } = counter;
  const announced = { ...announcedAs, name: "announced", action: { ...counter.action }, digest: "sha256:1" };
  const runner = { ...capabilities, environments: [announced] };

  it("is one that runners announce, or one that was submitted", async () => {
    const body = fresh();
    const { id, digest } = (await submit(body)).json;
    expect(await resolveEnvironment(db(), "announced", [runner])).toEqual({ key: "announced", environment: announced });
    for (const named of [id, body.name]) {
      const resolved = await resolveEnvironment(db(), named, [runner]);
      expect(resolved).toEqual({ key: id, environment: { ...announcedAs, name: body.name, digest } });
    }
    expect(await resolveEnvironment(db(), "nobody", [runner])).toBeNull();
  });

  it("goes to runners that have it, a submitted one to those that take such programs on a GPU", () => {
    expect(takesEnvironment("announced", runner)).toBe(true);
    expect(takesEnvironment("announced", capabilities)).toBe(false);
    expect(takesEnvironment(missingId.environment, { ...runner, userKernels: true })).toBe(true);
    expect(takesEnvironment(missingId.environment, { ...runner, userKernels: false })).toBe(false);
    expect(takesEnvironment(missingId.environment, { ...runner, userKernels: true, devices: [] })).toBe(false);
  });

  it("is shared by GPUs of a runner that announces it, and not by those of an older one", () => {
    const { sharesJobs: _shares, ...older } = runner;
    expect(hasSharers(runner, "all")).toBe(true);
    expect(hasSharers(runner, ["gpu0"])).toBe(true);
    expect(hasSharers(older, "all")).toBe(false);
    expect(hasSharers(older, undefined)).toBe(true);
  });
});
