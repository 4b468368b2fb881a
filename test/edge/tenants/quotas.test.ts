import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { scopeEnv } from "../../../src/edge/config.ts";
import { openProject } from "../../../src/edge/store/database.ts";
import { addArchive } from "../../../src/edge/store/models/archive-store.ts";
import { DEFAULT_QUOTAS } from "../../../src/edge/store/quotas/default-quotas.ts";
import { STORED_TABLES, writeRows } from "../../../src/edge/store/stored-tables.ts";
import { type QuotaLimits, ProjectQuotas, QuotaName } from "../../../src/protocol/service/quota.ts";
import { append, measured } from "../history/history-samples.ts";
import { POPULATION_FILES } from "../stack/population-files.ts";
import {
  byNumber,
  callEdge,
  countStored,
  createProject,
  createToken,
  fetchEdge,
  pointersOf,
  problemOf,
  type Reply,
  type Sent,
} from "../stack/edge-client.ts";
import { capabilities } from "../stack/samples.ts";
import { cartpole, variantOf } from "../stack/zoo.ts";
import { Tenant } from "./tenant.ts";

/** What a project may have is held where it is made, told to the project, and set by the operator. */

const octets = { "content-type": "application/octet-stream" };
const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
const population = bytesOf(POPULATION_FILES.npy);
const NETWORK = encodeURIComponent('{"hidden":[],"activation":"relu"}');
const requirements = [{ metric: "latencyMs", percentile: 0.5, atMost: 10 }];

const profile = { description: "", requirements: {}, targets: {}, settings: {} };

let opened = 0;

/** A project of its own, with an admin's key. */
async function open(limits: QuotaLimits = {}) {
  const { project, secret: key } = await createProject(`budget-${opened++}`);
  const set = (changed: QuotaLimits) => callEdge("PUT", `/v1/projects/${project}/quotas`, { body: changed });
  if (Object.keys(limits).length > 0) await set(limits);
  const send = (method: string, path: string, sent: Sent = {}) => callEdge(method, path, { key, ...sent });
  return { project, key, set, send, useOf: async (name: QuotaName) => (await readUse(key))[name] };
}
type Opened = Awaited<ReturnType<typeof open>>;

async function readUse(key: string): Promise<Record<string, number>> {
  const { quotas } = ProjectQuotas.parse((await callEdge("GET", "/v1/project", { key })).json);
  return Object.fromEntries(quotas.map(({ name, used }) => [name, used]));
}

let made = 0;
const freshName = () => `thing-${made++}`;
const report = (measurements: number, subject = freshName()) => ({
  run: freshName(),
  measurements: Array.from({ length: measurements }, (_, index) => ({
    subject,
    metric: `m${index}`,
    unit: "ms",
    values: [index + 1],
  })),
});
const pushModel = ({ send }: Opened, name: string, seed: number) =>
  send("POST", `/v1/models?name=${name}`, { body: variantOf(cartpole, seed), headers: octets });
const sendReport = ({ send }: Opened, measurements: number, subject?: string) =>
  send("POST", "/v1/history/points", { body: report(measurements, subject) });

/** How one more of each is made. */
const makers: Partial<Record<QuotaName, (tenant: Opened) => Promise<Reply>>> = {
  models: (tenant) => pushModel(tenant, freshName(), made),
  versions: (tenant) => pushModel(tenant, "same", made++),
  uploads: ({ send }) =>
    send("POST", "/v1/uploads", { body: { digest: `sha256:${String(made++).padStart(64, "0")}`, sizeBytes: 5 } }),
  populations: ({ send }) =>
    send("POST", `/v1/populations?name=${freshName()}&network=${NETWORK}`, { body: population, headers: octets }),
  itemMemories: ({ send }) => send("POST", "/v1/item-memories", { body: { name: freshName(), dimension: 3 } }),
  agentPools: ({ send }) => send("POST", "/v1/agent-pools", { body: { name: freshName(), agents: 2, stateSize: 4 } }),
  series: (tenant) => sendReport(tenant, 1),
  runs: (tenant) => sendReport(tenant, 1, "same"),
  points: (tenant) => sendReport(tenant, 1, "same"),
  pointsADay: (tenant) => sendReport(tenant, 1, "same"),
  thresholds: ({ send }) =>
    send("POST", "/v1/history/thresholds", { body: { name: freshName(), test: "static", upper: 1, selector: {} } }),
  requirementSets: ({ send }) => send("POST", "/v1/requirements", { body: { name: freshName(), requirements } }),
  baselines: ({ send }) => send("PUT", `/v1/history/baselines/${freshName()}`, { body: { label: "main" } }),
  profiles: ({ send }) => send("POST", "/v1/profiles", { body: { ...profile, name: freshName() } }),
  webhooks: ({ send }) => send("POST", "/v1/webhooks", { body: { url: "https://hooks.example/a" } }),
  runners: async ({ key }) => {
    const token = await createToken(undefined, key);
    return callEdge("POST", "/v1/runners", { key: null, body: { token, name: freshName() } });
  },
  registrationTokens: ({ send }) => send("POST", "/v1/runners/tokens", { body: {} }),
  keys: ({ send }) => send("POST", "/v1/keys", { body: { name: freshName(), scopes: ["read"] } }),
};

describe("the quotas of a project", () => {
  it("are told to every key of it, and are the defaults at first", async () => {
    const { project, send } = await open();
    const { secret: reader } = (await send("POST", "/v1/keys", { body: { name: "reader", scopes: ["read"] } })).json;
    const { status, json } = await callEdge("GET", "/v1/project", { key: reader });
    expect(status).toBe(200);
    const told = ProjectQuotas.parse(json);
    expect(told.project).toBe(project);
    expect(told.quotas.map(({ name, limit, isSet }) => [name, limit, isSet])).toEqual(
      QuotaName.options.map((name) => [name, DEFAULT_QUOTAS[name], false]),
    );
    expect(told.quotas.filter(({ used }) => used > 0)).toMatchObject([{ name: "keys", used: 2 }]);
    expect((await callEdge("GET", `/v1/projects/${project}/quotas`)).json).toEqual(told);
    expect((await callEdge("GET", "/v1/project")).json.project).toBe("main");
  });

  it("are set by the operator as a whole", async () => {
    const { project, send, set } = await open();
    const limitOf = ({ json }: Reply, name: QuotaName) =>
      ProjectQuotas.parse(json).quotas.find((quota) => quota.name === name);
    const first = await set({ models: 3, series: 0 });
    expect(limitOf(first, "models")).toEqual({ name: "models", used: 0, limit: 3, isSet: true });
    const second = await set({ series: 7 });
    expect(limitOf(second, "models")).toMatchObject({ limit: DEFAULT_QUOTAS.models, isSet: false });
    expect(limitOf(second, "series")).toMatchObject({ limit: 7, isSet: true });
    expect((await send("GET", "/v1/project")).json).toEqual(second.json);
    const own = await send("PUT", `/v1/projects/${project}/quotas`, { body: { models: 9 } });
    expect(problemOf(own).code).toBe("forbidden");
    for (const [body, pointer] of [
      [{ castles: 1 }, "#/castles"],
      [{ models: -1 }, "#/models"],
      [{ models: 1.5 }, "#/models"],
      [{ models: null }, "#/models"],
    ] as const) {
      const refused = await callEdge("PUT", `/v1/projects/${project}/quotas`, { body });
      expect(pointersOf(refused)).toEqual([pointer]);
    }
    expect((await send("GET", "/v1/project")).json).toEqual(second.json);
  });

  it("are those of the operator's own project, too", async () => {
    const { json: before } = await callEdge("GET", "/v1/project");
    const { json: set } = await callEdge("PUT", "/v1/projects/main/quotas", { body: { webhooks: 0 } });
    expect(ProjectQuotas.parse(set).quotas).toContainEqual(expect.objectContaining({ name: "webhooks", limit: 0 }));
    const refused = await callEdge("POST", "/v1/webhooks", { body: { url: "https://hooks.example/main" } });
    expect(problemOf(refused).quota).toMatchObject({ name: "webhooks", limit: 0 });
    const { json: after } = await callEdge("PUT", "/v1/projects/main/quotas", { body: {} });
    expect(after).toEqual(before);
  });
});

describe.each(Object.entries(makers))("the quota of %s", (name, make) => {
  it("is refused with what is used and may be, and writes nothing; two at once get one place", async () => {
    const tenant = await open();
    const quota = QuotaName.parse(name);
    expect((await make(tenant)).status).toBeLessThan(300);
    const used = (await tenant.useOf(quota)) ?? 0;
    expect(used).toBeGreaterThan(0);
    await tenant.set({ [quota]: used });
    // A token is used up by no refusal.
    const before = { ...(await countStored()), registration_tokens: 0, keys: 0 };
    const refused = await make(tenant);
    const problem = problemOf(refused);
    expect([refused.status, problem.code]).toEqual([409, "quota-exceeded"]);
    expect(problem.quota).toEqual({ name, used, limit: used });
    expect(problem.detail).toContain(`uses ${used} of its quota \`${name}\``);
    expect({ ...(await countStored()), registration_tokens: 0, keys: 0 }).toEqual(before);
    // Lower than what is there, it takes nothing away.
    await tenant.set({ [quota]: 0 });
    expect(problemOf(await make(tenant)).quota).toEqual({ name, used, limit: 0 });
    await tenant.set({ [quota]: used + 1 });
    const both = await Promise.all([make(tenant), make(tenant)]);
    const statuses = both.map(({ status }) => status).toSorted(byNumber);
    expect([statuses[0]! < 300, statuses[1]]).toEqual([true, 409]);
    expect(await tenant.useOf(quota)).toBe(used + 1);
  });
});

describe("the quota of bytes", () => {
  it("counts each file once, and holds for every way of storing one", async () => {
    const tenant = await open();
    const first = await pushModel(tenant, "first", 1);
    const { sizeBytes, digest } = first.json.version;
    await pushModel(tenant, "other", 1);
    expect(await tenant.useOf("storedBytes")).toBe(sizeBytes);
    await tenant.set({ storedBytes: sizeBytes });
    // The same bytes take no more room.
    expect((await pushModel(tenant, "third", 1)).status).toBe(201);
    const octetsOf = (body: Uint8Array<ArrayBuffer>) => ({ body, headers: octets });
    for (const [method, path, sent] of [
      ["POST", "/v1/models?name=fourth", octetsOf(variantOf(cartpole, 2))],
      ["POST", "/v1/models/first/versions/1/variants?name=mine", octetsOf(variantOf(cartpole, 3))],
      ["POST", `/v1/populations?network=${NETWORK}`, octetsOf(population)],
      ["POST", "/v1/uploads", { body: { digest: `sha256:${"a".repeat(64)}`, sizeBytes: 1 } }],
    ] as const) {
      const refused = await tenant.send(method, path, sent);
      expect([path, problemOf(refused).quota]).toEqual([
        path,
        { name: "storedBytes", used: sizeBytes, limit: sizeBytes },
      ]);
    }
    await tenant.send("POST", "/v1/agent-pools", { body: { name: "herd", agents: 2, stateSize: 4 } });
    const { headers } = await tenant.send("GET", "/v1/agent-pools/herd");
    const ifMatch = { "if-match": String(headers.get("etag")), ...octets };
    const write = () =>
      tenant.send("PUT", "/v1/agent-pools/herd/states", { body: new Uint8Array(32), headers: ifMatch });
    expect(problemOf(await write()).quota?.name).toBe("storedBytes");
    await tenant.set({ storedBytes: sizeBytes + 32 });
    expect((await write()).status).toBe(200);
    expect(await tenant.useOf("storedBytes")).toBe(sizeBytes + 32);
    const archive = { jobId: null, digest, sizeBytes, summary: {} as never };
    await addArchive(openProject(scopeEnv(env, tenant.project)), archive).catch(() => undefined);
    expect(await tenant.useOf("storedBytes")).toBe(sizeBytes + 32);
  });
});

describe("a population that is there already", () => {
  it.each([
    ["as it is", population],
    ["in whole rows", bytesOf(POPULATION_FILES.layers)],
  ])("takes no more of the quota of bytes, and is stored %s", async (_, file) => {
    const tenant = await open();
    const upload = (body: Uint8Array<ArrayBuffer>) =>
      tenant.send("POST", `/v1/populations?name=same&network=${NETWORK}`, { body, headers: octets });
    expect((await upload(file)).status).toBe(201);
    const used = (await tenant.useOf("storedBytes"))!;
    await tenant.set({ storedBytes: used });
    expect((await upload(file)).status).toBe(200);
    await tenant.set({ storedBytes: 0 });
    const { objects: before } = await env.ARTIFACTS.list();
    const other = file.slice();
    other[other.length - 1]! ^= 1;
    expect(problemOf(await upload(other)).quota).toEqual({ name: "storedBytes", used, limit: 0 });
    expect((await env.ARTIFACTS.list()).objects.length).toBe(before.length);
  });
});

describe("the quota of archives", () => {
  it("keeps one from being stored", async () => {
    const { project } = await open({ archives: 0 });
    const archive = { jobId: null, digest: "sha256:none", sizeBytes: 1, summary: {} as never };
    expect(await addArchive(openProject(scopeEnv(env, project)), archive)).toBeNull();
  });
});

describe("the quotas of the history", () => {
  it("let a report in as a whole or not at all, with its samples", async () => {
    const tenant = await open({ series: 4, points: 10 });
    expect((await sendReport(tenant, 3, "a")).status).toBe(201);
    const { objects: before } = await env.ARTIFACTS.list({ prefix: "samples/" });
    const refused = await sendReport(tenant, 2, "b");
    expect(problemOf(refused).quota).toEqual({ name: "series", used: 3, limit: 4 });
    expect(problemOf(await sendReport(tenant, 8, "a")).quota).toMatchObject({ name: "series" });
    await tenant.set({ series: 9, points: 10 });
    expect(problemOf(await sendReport(tenant, 8, "a")).quota).toEqual({ name: "points", used: 3, limit: 10 });
    const { objects } = await env.ARTIFACTS.list({ prefix: "samples/" });
    expect(objects.length).toBe(before.length);
    expect(await readUse(tenant.key)).toMatchObject({ series: 3, points: 3, pointsADay: 3, runs: 1 });
    expect((await sendReport(tenant, 7, "a")).status).toBe(201);
    expect(await readUse(tenant.key)).toMatchObject({ series: 7, points: 10, pointsADay: 10, runs: 2 });
  });

  it("know a report that came before, whatever is used up since", async () => {
    const { send, set } = await open();
    const body = report(2);
    expect((await send("POST", "/v1/history/points", { body })).status).toBe(201);
    await set({ runs: 0, points: 0, series: 0 });
    expect((await send("POST", "/v1/history/points", { body })).status).toBe(200);
  });

  it("begin anew with a day", async () => {
    const tenant = await open();
    await sendReport(tenant, 3);
    await env.DB.prepare("update project_counts set day = day - 1 where project = ?").bind(tenant.project).run();
    expect(await readUse(tenant.key)).toMatchObject({ points: 3, pointsADay: 0 });
    await sendReport(tenant, 2);
    expect(await readUse(tenant.key)).toMatchObject({ points: 5, pointsADay: 2 });
    // An import brings the days as they come.
    const store = `insert into reports (id, project, owner_id, name, digest, tool, points, at_ms, stored_at_ms)
      select ?1, project, owner_id, ?1, digest, tool, 4, at_ms, stored_at_ms - 86400000 from reports where project = ?2 limit 1`;
    await env.DB.prepare(store).bind("imported", tenant.project).run();
    expect(await readUse(tenant.key)).toMatchObject({ points: 9, pointsADay: 2 });
  });

  it("leave points of requests out whose series has no room, and keep all others", async () => {
    const [tenant, other] = [await open({ series: 1 }), await open()];
    const point = (subject: string, { project }: Opened) => measured({ subject }, Date.now(), [1], { project });
    await append(point("known", tenant), point("beyond", tenant), point("theirs", other));
    await append(point("known", tenant), point("beyond", tenant));
    const { results } = await env.DB.prepare(
      `select subject, count(*) as points from series join points on series_no = no
       where project in (?1, ?2) group by 1 order by 1`,
    )
      .bind(tenant.project, other.project)
      .all();
    expect(results).toEqual([
      { subject: "known", points: 2 },
      { subject: "theirs", points: 1 },
    ]);
    await tenant.set({ series: 2 });
    await append(point("beyond", tenant));
    expect(await tenant.useOf("series")).toBe(2);
  });

  it("count rows once that are imported again", async () => {
    const tenant = await open();
    await sendReport(tenant, 3);
    const before = await readUse(tenant.key);
    for (const name of ["series", "reports"]) {
      const table = STORED_TABLES.find((each) => each.name === name)!;
      const query = env.DB.prepare(`select ${table.columns.join()} from ${name} where project = ?`);
      await writeRows(env.DB, table, await query.bind(tenant.project).raw());
    }
    expect(await readUse(tenant.key)).toEqual(before);
  });
});

describe("the quotas of work", () => {
  const job = { kind: "benchmark", kernel: "triad", shape: { n: 64 } };

  it("refuse a job whose run would be one too many, and one more that waits", async () => {
    const { project, key } = await Tenant.open("budget-of-work", capabilities);
    const set = (body: QuotaLimits) => callEdge("PUT", `/v1/projects/${project}/quotas`, { body });
    const submit = () => callEdge("POST", "/v1/jobs", { key, body: job });
    await set({ runs: 0 });
    expect(problemOf(await submit()).quota).toEqual({ name: "runs", used: 0, limit: 0 });
    await set({ queuedJobs: 0 });
    const full = problemOf(await submit());
    expect([full.code, full.quota]).toEqual(["queue-full", { name: "queuedJobs", used: 0, limit: 0 }]);
  });

  it("refuse one event stream too many", async () => {
    const { key, useOf } = await open({ eventStreams: 1 });
    const first = await fetchEdge("GET", "/v1/events", { key });
    expect(first.status).toBe(200);
    expect(await useOf("eventStreams")).toBe(1);
    const refused = problemOf(await callEdge("GET", "/v1/events", { key }));
    expect([refused.code, refused.detail]).toEqual(["overloaded", expect.stringContaining("`eventStreams`")]);
    await first.body?.cancel();
    await expect.poll(() => useOf("eventStreams")).toBe(0);
    const again = await fetchEdge("GET", "/v1/events", { key });
    expect(again.status).toBe(200);
    await again.body?.cancel();
  });
});
