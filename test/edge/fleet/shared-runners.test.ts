import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { saveStates } from "../../../src/edge/store/kernels/agent-pool-store.ts";
import { digestOf, putArtifact } from "../../../src/edge/store/artifact-store.ts";
import { scopeEnv } from "../../../src/edge/config.ts";
import { checkMayShare } from "../../../src/edge/fleet/runner-rights.ts";
import { openProject } from "../../../src/edge/store/database.ts";
import type { JobSummary } from "../../../src/protocol/jobs/job.ts";
import { MAIN_PROJECT } from "../../../src/protocol/service/project.ts";
import {
  callEdge,
  createProject,
  fetchEdge,
  pointersOf,
  problemOf,
  registerRunner,
  type RegisteredRunner,
} from "../stack/edge-client.ts";
import { queueStub } from "../stack/queue-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { calibrationResult, capabilities } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { cartpole, variantOf } from "../stack/zoo.ts";

const encoder = { ...capabilities.kernels[1]!, name: "hrr-encode" };
const roomy = { ...capabilities, kernels: [...capabilities.kernels, encoder], jobSlots: 16 };
let seeds = 0;

let host = { project: "", secret: "" };
let guest = { project: "", secret: "" };
let runner: RegisteredRunner;
let scripted: ScriptedRunner;
beforeAll(async () => {
  host = await createProject("host");
  guest = await createProject("guest");
});
beforeEach(async () => {
  runner = await registerRunner("lent", host.secret);
  ({ scripted } = await connect());
  return () => callEdge("DELETE", `/v1/runners/${runner.runnerId}`, { key: host.secret });
});

async function connect() {
  const socket = await ScriptedRunner.connect(runner);
  socket.send({ type: "hello", capabilities: roomy, running: [] });
  return { scripted: socket, welcome: await socket.next("welcome") };
}

it("a runner is shared by the operator alone, unless all projects may", () => {
  const careful = { ...env, PROJECTS_SHARE_RUNNERS: "off" };
  expect(() => checkMayShare({ ...careful, project: host.project })).toThrow("PROJECTS_SHARE_RUNNERS");
  checkMayShare({ ...careful, project: MAIN_PROJECT });
  checkMayShare({ ...env, project: host.project });
});

it("a runner that was restricted while its hello was read stays so", async () => {
  const { runnerId: id } = runner;
  const read = { id, project: host.project, shared: true, draining: false, jobsLeft: null, capabilities: roomy };
  await queueStub().runnerConnected(read, [], Date.now());
  const [known] = await runInDurableObject(queueStub(), (_, { storage }) =>
    storage.sql.exec("select shared from runners where id = ?", id).toArray(),
  );
  expect(known).toEqual({ shared: 0 });
  const body = { kind: "benchmark", kernel: "triad", shape: { n: 64 } };
  const { id: jobId } = (await callEdge("POST", "/v1/jobs", { key: guest.secret, body })).json;
  const own = (await callEdge("POST", "/v1/jobs", { key: host.secret, body })).json;
  expect((await scripted.next("offer")).lease.jobId).toBe(own.id);
  if (jobId !== undefined) await callEdge("POST", `/v1/jobs/${jobId}/cancel`, { key: guest.secret });
});

it("a runner that is not shared loses at its hello what it measured of other projects", async () => {
  await lend("share");
  const version = await upload("once-shared", guest.secret);
  let offer = await scripted.next("offer");
  while (offer.model?.modelVersionId !== version.id) offer = await scripted.next("offer");
  scripted.succeed(offer, calibrationResult(version.id));
  await scripted.next("jobSettled");
  // As where the restriction was cut off behind its first step.
  await env.DB.prepare("update runners set shared = 0 where id = ?").bind(runner.runnerId).run();
  const countPlaced = async () =>
    (await env.DB.prepare("select id from placements where model_version_id = ?").bind(version.id).all()).results
      .length;
  expect(await countPlaced()).toBeGreaterThan(0);
  await connect();
  await expect.poll(countPlaced, BOUND).toBe(0);
});

const lend = async (how: "share" | "unshare", key = host.secret) =>
  callEdge("POST", `/v1/runners/${runner.runnerId}/${how}`, { key });
const upload = async (name: string, key: string) =>
  (
    await callEdge("POST", `/v1/models?name=${name}`, {
      key,
      body: variantOf(cartpole, ++seeds),
      headers: { "content-type": "application/octet-stream" },
    })
  ).json.version;
const placementsOf = async (name: string, key: string): Promise<{ runnerId: string }[]> =>
  (await callEdge("GET", `/v1/models/${name}/placements`, { key })).json.items;
const infer = ({ inputs: [input] }: any, name: string, key: string) =>
  callEdge("POST", "/v1/infer", {
    key,
    body: { model: name, budgetMs: 60_000, inputs: { [input.name]: { data: [[1, 2, 3, 4]] } } },
  });

/** Versions of a project that the runner still has to calibrate. */
async function owed(key: string): Promise<string[]> {
  const { items } = (await callEdge("GET", "/v1/jobs?limit=200&kind=calibration", { key })).json;
  const alive = items.filter(({ state }: JobSummary) => state === "queued" || state === "leased");
  const jobs = await Promise.all(
    alive.map(async ({ id }: JobSummary) => (await callEdge("GET", `/v1/jobs/${id}`, { key })).json.spec),
  );
  return jobs.flatMap(({ runnerId, modelVersionId }) => (runnerId === runner.runnerId ? [modelVersionId] : []));
}

/** Takes the calibration of a version, ignoring other offers before it. */
async function calibrate(versionId: string): Promise<void> {
  let offer = await scripted.next("offer");
  while (offer.model?.modelVersionId !== versionId) offer = await scripted.next("offer");
  scripted.succeed(offer, calibrationResult(versionId));
  expect((await scripted.next("jobSettled")).stored).toBe(true);
}

/** A model of each project that the runner serves. */
async function serveBoth(name: string) {
  await lend("share");
  const theirs = await upload(name, guest.secret);
  const own = await upload(name, host.secret);
  await calibrate(theirs.id);
  await calibrate(own.id);
  return { theirs, own };
}

describe("a runner that is not shared", () => {
  it("works for its own project alone", async () => {
    const own = await upload("alone", host.secret);
    await upload("alone", guest.secret);
    expect(await owed(host.secret)).toContain(own.id);
    expect(await owed(guest.secret)).toEqual([]);
    const { items } = (await callEdge("GET", "/v1/runners", { key: guest.secret })).json;
    expect(items).toEqual([]);
    const found = await callEdge("GET", `/v1/runners/${runner.runnerId}`, { key: guest.secret });
    expect(problemOf(found).code).toBe("not-found");
    const { welcome } = await connect();
    expect(welcome.placed).toEqual([]);
    expect(await owed(guest.secret)).toEqual([]);
  });

  it("is unknown to another project's jobs, rules and requests", async () => {
    const { runnerId } = runner;
    const version = await upload("elsewhere", guest.secret);
    const job = { kind: "calibration", modelVersionId: version.id, runnerId };
    expect(pointersOf(await callEdge("POST", "/v1/jobs", { key: guest.secret, body: job }))).toEqual(["#/runnerId"]);
    const rule = { kind: "pinned", runnerIds: [runnerId] };
    const ruled = await callEdge("PUT", "/v1/models/elsewhere/placement", { key: guest.secret, body: rule });
    expect(pointersOf(ruled)).toEqual(["#/runnerIds/0"]);
    expect(problemOf(await infer(version, "elsewhere", guest.secret)).code).toBe("no-placement");
  });

  it("computes for its own project alone", async () => {
    const encode = async (key: string, budgetMs: number) => {
      const body = { symbols: ["a"], dimension: 4, budgetMs, runnerId: runner.runnerId };
      return problemOf(await callEdge("POST", "/v1/hrr/encode", { key, body })).code;
    };
    // It is asked, and does not answer.
    await expect.poll(() => encode(host.secret, 1_000), BOUND).toBe("budget-exceeded");
    expect(await encode(guest.secret, 60_000)).toBe("no-placement");
  });

  it("cannot be shared by another project", async () => {
    expect(problemOf(await lend("share", guest.secret)).code).toBe("not-found");
    expect((await callEdge("GET", `/v1/runners/${runner.runnerId}`, { key: host.secret })).json.shared).toBe(false);
  });
});

describe("a runner that is shared", () => {
  it("owes the models of all projects at once, and serves them", async () => {
    const theirs = await upload("served", guest.secret);
    expect(await owed(guest.secret)).toEqual([]);
    const lent = await lend("share");
    expect(lent.json).toMatchObject({ shared: true, owned: true });
    expect(await owed(guest.secret)).toContain(theirs.id);
    const own = await upload("served", host.secret);
    await calibrate(theirs.id);
    await calibrate(own.id);
    for (const [key, version] of [
      [guest.secret, theirs],
      [host.secret, own],
    ] as const) {
      expect(await placementsOf("served", key)).toMatchObject([{ runnerId: runner.runnerId }]);
      await expect
        .poll(async () => {
          const [placement] = await placementsOf("served", key);
          const asked = await callEdge("POST", "/v1/tickets", { key, body: { model: "served", budgetMs: 1_000 } });
          return [placement === undefined, problemOf(asked).code];
        }, BOUND)
        .toEqual([false, "no-listener"]);
      const pending = infer(version, "served", key);
      const { offer } = await scripted.nextInfer();
      expect(offer.modelVersionId).toBe(version.id);
      const bytes = new Uint8Array(Float32Array.of(0, 1).buffer);
      scripted.answer(offer, [{ name: version.outputs[0].name, dtype: "float32", shape: [1, 2], bytes }]);
      expect((await pending).status).toBe(200);
    }
  });

  it("is seen by all and looked after by its owner", async () => {
    await lend("share");
    const at = `/v1/runners/${runner.runnerId}`;
    const { json } = await callEdge("GET", at, { key: guest.secret });
    expect(json).toMatchObject({ id: runner.runnerId, shared: true, owned: false });
    const { items } = (await callEdge("GET", "/v1/runners", { key: guest.secret })).json;
    const { batches, ...listed } = json;
    expect(items).toEqual([listed]);
    expect(batches).toEqual([]);
    for (const [method, path] of [
      ["GET", "/memory"],
      ["GET", "/diagnosis"],
      ["GET", "/live"],
      ["POST", "/drain"],
      ["POST", "/resume"],
      ["POST", "/rotate"],
      ["POST", "/unshare"],
      ["DELETE", ""],
    ] as const) {
      const refused = await callEdge(method, `${at}${path}`, { key: guest.secret });
      expect([path, problemOf(refused).code]).toEqual([path, "not-found"]);
    }
    expect(scripted.received.filter(({ type }) => type === "memoryRequest" || type === "healthRequest")).toEqual([]);
  });

  it("is held against targets by one's own models alone", async () => {
    await serveBoth("weighed");
    const name = "throughput";
    for (const { secret: key } of [host, guest]) {
      const profile = { name, requirements: {}, targets: { throughputRps: 1 } };
      await callEdge("POST", "/v1/profiles", { key, body: profile });
      const fit = await callEdge("GET", `/v1/runners/${runner.runnerId}/fit?profile=${name}`, { key });
      expect(fit.status).toBe(200);
      const told = JSON.stringify(fit.json.targets);
      const [own] = await placementsOf("weighed", key);
      const [other] = await placementsOf("weighed", key === host.secret ? guest.secret : host.secret);
      expect(told).toContain((own as { id?: string }).id);
      expect(told).not.toContain((other as { id?: string }).id);
    }
  });

  it("loses what it serves for others when it is shared no longer", async () => {
    const { theirs, own } = await serveBoth("ended");
    const { placed } = (await connect()).welcome;
    expect(placed.map(({ modelVersionId }) => modelVersionId)).toEqual(expect.arrayContaining([theirs.id, own.id]));
    expect((await lend("unshare")).json).toMatchObject({ shared: false, owned: true });
    expect(await placementsOf("ended", guest.secret)).toEqual([]);
    expect(await placementsOf("ended", host.secret)).toMatchObject([{ runnerId: runner.runnerId }]);
    expect(await owed(guest.secret)).toEqual([]);
    await expect
      .poll(async () => problemOf(await infer(theirs, "ended", guest.secret)).code, BOUND)
      .toBe("no-placement");
    const { welcome } = await connect();
    const kept = welcome.placed.map(({ modelVersionId }) => modelVersionId);
    expect(kept).toContain(own.id);
    expect(kept).not.toContain(theirs.id);
  });

  it("keeps the placements of one project whatever another one rules or removes", async () => {
    await serveBoth("ruled");
    const mine = await registerRunner("own", guest.secret);
    const rule = { kind: "pinned", runnerIds: [mine.runnerId] };
    const ruled = await callEdge("PUT", "/v1/models/ruled/placement", { key: guest.secret, body: rule });
    expect(ruled.status).toBe(200);
    expect(await placementsOf("ruled", guest.secret)).toEqual([]);
    expect(await placementsOf("ruled", host.secret)).toMatchObject([{ runnerId: runner.runnerId }]);
    const removed = await callEdge("DELETE", `/v1/runners/${runner.runnerId}`, { key: guest.secret });
    expect(problemOf(removed).code).toBe("not-found");
    expect(await placementsOf("ruled", host.secret)).toHaveLength(1);
    await callEdge("DELETE", `/v1/runners/${mine.runnerId}`, { key: guest.secret });
  });
});

describe("a project that is closed", () => {
  it("has nothing on shared runners any more", async () => {
    const brief = await createProject(`brief-${++seeds}`);
    await lend("share");
    const theirs = await upload("brief", brief.secret);
    await calibrate(theirs.id);
    expect((await connect()).welcome.placed.map(({ modelVersionId }) => modelVersionId)).toContain(theirs.id);
    expect((await callEdge("DELETE", `/v1/projects/${brief.project}`)).status).toBe(200);
    const { scripted: again, welcome } = await connect();
    expect(welcome.placed.map(({ modelVersionId }) => modelVersionId)).not.toContain(theirs.id);
    const placed = env.DB.prepare("select count(*) as n from placements where model_version_id = ?1");
    expect(await placed.bind(theirs.id).first("n")).toBe(0);
    // The runner's next calibration is another project's.
    const own = await upload("behind", host.secret);
    const offers = [await again.next("offer")];
    while (offers.at(-1)!.model?.modelVersionId !== own.id) offers.push(await again.next("offer"));
    expect(offers.map(({ model }) => model?.modelVersionId)).not.toContain(theirs.id);
  });
});

describe("what a runner may read", () => {
  const statusOf = async (digest: string) =>
    (await fetchEdge("GET", `/v1/artifacts/${digest}`, { key: runner.credential })).status;

  it("is of the projects that it works for", async () => {
    const poolOf = async ({ project, secret: key }: typeof host) => {
      const name = "read";
      await callEdge("POST", "/v1/agent-pools", { key, body: { name, agents: 1, stateSize: 4 } });
      const bytes = new Uint8Array(Float32Array.of(1, 2, 3, ++seeds).buffer);
      const digest = await digestOf(bytes.buffer);
      await putArtifact(env.ARTIFACTS, digest, bytes.buffer);
      await saveStates(openProject(scopeEnv(env, project)), name, 1, { digest, generation: 1 });
      return digest;
    };
    const memoryOf = async ({ secret: key }: typeof host) => {
      await callEdge("POST", "/v1/item-memories", { key, body: { name: "read", dimension: 4 } });
      const items = [{ key: "one", vector: [1, 2, 3, ++seeds] }];
      await callEdge("POST", "/v1/item-memories/read/items", { key, body: { items } });
      return digestOf(Float32Array.from(items[0]!.vector).buffer);
    };
    const [own, theirs] = [await poolOf(host), await poolOf(guest)];
    const [remembered, theirMemory] = [await memoryOf(host), await memoryOf(guest)];
    const read = () => Promise.all([own, remembered, theirs, theirMemory].map(statusOf));
    expect(await read()).toEqual([200, 200, 404, 404]);
    await lend("share");
    expect(await read()).toEqual([200, 200, 200, 200]);
    await lend("unshare");
    expect(await read()).toEqual([200, 200, 404, 404]);
  });

  it("is no model that is placed there no longer", async () => {
    const { theirs, own } = await serveBoth("readable");
    expect([await statusOf(own.digest), await statusOf(theirs.digest)]).toEqual([200, 200]);
    await lend("unshare");
    expect([await statusOf(own.digest), await statusOf(theirs.digest)]).toEqual([200, 404]);
  });
});
