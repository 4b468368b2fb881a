import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { CLOSE_CODES } from "../../../src/protocol/link.ts";
import { Project } from "../../../src/protocol/service/project.ts";
import type { Runner } from "../../../src/protocol/fleet/runner.ts";
import { callEdge, createKey, pointersOf, problemOf } from "../stack/edge-client.ts";
import { capabilities } from "../stack/samples.ts";
import { Tenant } from "../tenants/tenant.ts";

const BENCHMARK = { kind: "benchmark", kernel: "triad", shape: { n: 64 } };

let names = 0;
const freshName = () => `tenant-${names++}`;
const openTenant = () => Tenant.open(freshName(), capabilities);
const create = (name: string, key?: string) =>
  callEdge("POST", "/v1/projects", { body: { name }, ...(key !== undefined && { key }) });
const close = (name: string) => callEdge("DELETE", `/v1/projects/${name}`);
const keyFor = (project: string, key?: string) =>
  callEdge("POST", "/v1/keys", {
    body: { name: "sample", scopes: ["read"], project },
    ...(key !== undefined && { key }),
  });
const runnersOf = async ({ key }: Tenant): Promise<Runner[]> =>
  (await callEdge("GET", "/v1/runners?limit=200", { key })).json.items;

describe("a project", () => {
  it("is opened once and listed by name behind the operator's own, page by page", async () => {
    const made: Project[] = [];
    for (const name of ["paged-c", "paged-a", "paged-b"]) {
      const { status, json } = await create(name);
      expect([status, json]).toEqual([201, { name, createdAt: expect.any(String), closedAt: null }]);
      made.push(Project.parse(json));
    }
    const taken = await create("paged-a");
    expect([problemOf(taken).code, pointersOf(taken)]).toEqual(["conflict", ["#/name"]]);
    expect(problemOf(await create("main")).code).toBe("conflict");
    const { items: all } = (await callEdge("GET", "/v1/projects?limit=200")).json;
    expect(all[0]).toEqual({ name: "main", createdAt: null, closedAt: null });
    expect(all.slice(1)).toEqual(expect.arrayContaining(made));
    const paged: Project[] = [];
    for (let cursor = ""; ;) {
      const { items, nextCursor } = (await callEdge("GET", `/v1/projects?limit=2${cursor}`)).json;
      paged.push(...items);
      if (nextCursor === null) break;
      cursor = `&cursor=${encodeURIComponent(nextCursor)}`;
    }
    expect(paged).toEqual(all);
  });

  it("is the operator's to open, list and close", async () => {
    const { project, key } = await openTenant();
    for (const [method, path, body] of [
      ["POST", "/v1/projects", { name: freshName() }],
      ["GET", "/v1/projects", undefined],
      ["DELETE", `/v1/projects/${project}`, undefined],
      ["GET", "/metrics", undefined],
      ["POST", "/v1/transfers", { kind: "export" }],
    ] as const) {
      const refused = await callEdge(method, path, { key, ...(body !== undefined && { body }) });
      expect([path, problemOf(refused).code]).toEqual([path, "forbidden"]);
      expect(problemOf(refused).detail).toContain("operator");
    }
    const { secret: reader } = await createKey(["read", "submit", "infer"]);
    expect(problemOf(await create(freshName(), reader)).code).toBe("forbidden");
  });
});

describe("a key of a project", () => {
  it("is made by the operator for any that is open, and by an administrator for its own", async () => {
    const { project, key } = await openTenant();
    const other = await openTenant();
    const made = await keyFor(project);
    expect([made.status, made.json.project]).toEqual([201, project]);
    const own = await callEdge("POST", "/v1/keys", { key, body: { name: "sample", scopes: ["read"] } });
    expect([own.status, own.json.project]).toEqual([201, project]);
    expect((await keyFor(project, key)).json.project).toBe(project);
    for (const elsewhere of [other.project, "main", "nowhere"]) {
      const refused = await keyFor(elsewhere, key);
      expect([problemOf(refused).code, pointersOf(refused)]).toEqual(["forbidden", ["#/project"]]);
    }
    const unknown = await keyFor("nowhere");
    expect([problemOf(unknown).code, pointersOf(unknown)]).toEqual(["not-found", ["#/project"]]);
    expect((await keyFor("main")).json.project).toBe("main");
  });

  it("is listed and revoked within it", async () => {
    const { project, key } = await openTenant();
    const { json: made } = await keyFor(project);
    const listed = (await callEdge("GET", "/v1/keys", { key })).json.items;
    expect(listed.map((each: { name: string; project: string }) => [each.name, each.project])).toEqual([
      ["sample", project],
      [`${project}-admin`, project],
    ]);
    const operators = (await callEdge("GET", "/v1/keys?limit=200")).json.items;
    expect(operators.map(({ id }: { id: string }) => id)).not.toContain(made.id);
    const { id: ours } = await createKey(["read"]);
    expect(problemOf(await callEdge("DELETE", `/v1/keys/${ours}`, { key })).code).toBe("not-found");
    expect(problemOf(await callEdge("DELETE", `/v1/keys/${made.id}`)).code).toBe("not-found");
    expect((await callEdge("DELETE", `/v1/keys/${made.id}`, { key })).json.revokedAt).not.toBeNull();
  });
});

describe("a runner", () => {
  it("belongs to the project of its token, and no other sees it", async () => {
    const [mine, theirs] = [await openTenant(), await openTenant()];
    expect(await runnersOf(mine)).toMatchObject([{ id: mine.runner.runnerId, shared: false, owned: true }]);
    const path = `/v1/runners/${mine.runner.runnerId}`;
    for (const key of [theirs.key, undefined]) {
      const reply = await callEdge("GET", path, key === undefined ? {} : { key });
      expect(problemOf(reply).code).toBe("not-found");
    }
    expect((await runnersOf(theirs)).map(({ id }) => id)).toEqual([theirs.runner.runnerId]);
  });

  it("that is shared is seen by all and looked after by its owner alone", async () => {
    const [mine, theirs] = [await openTenant(), await openTenant()];
    const path = `/v1/runners/${mine.runner.runnerId}`;
    expect(await mine.post(`${path}/share`)).toMatchObject({ shared: true, owned: true });
    expect(await mine.post(`${path}/share`)).toMatchObject({ shared: true, owned: true });
    expect(await theirs.get(path)).toMatchObject({ name: `${mine.project}-runner`, shared: true, owned: false });
    expect(new Set((await runnersOf(theirs)).map(({ owned }) => owned))).toEqual(new Set([true, false]));
    for (const [method, part] of [
      ["POST", "/unshare"],
      ["POST", "/share"],
      ["POST", "/drain"],
      ["POST", "/resume"],
      ["POST", "/rotate"],
      ["GET", "/memory"],
      ["GET", "/diagnosis"],
      ["GET", "/live"],
      ["DELETE", ""],
    ] as const) {
      const refused = await callEdge(method, `${path}${part}`, { key: theirs.key });
      expect([part, problemOf(refused).code]).toEqual([part, "not-found"]);
    }
    expect(await mine.get(path)).toMatchObject({ state: "online", shared: true });
    expect(await mine.post(`${path}/unshare`)).toMatchObject({ shared: false, owned: true });
    expect(problemOf(await callEdge("GET", path, { key: theirs.key })).code).toBe("not-found");
  });

  it("that is shared does the jobs of others, and one that is not does none", async () => {
    const [mine, theirs] = [await openTenant(), await openTenant()];
    await theirs.post(`/v1/runners/${theirs.runner.runnerId}/drain`);
    const { id } = await theirs.post("/v1/jobs", BENCHMARK);
    // Its own job comes at once, though the other one was earlier.
    const { id: own } = await mine.post("/v1/jobs", BENCHMARK);
    const first = await mine.scripted.next("offer");
    expect(first.lease.jobId).toBe(own);
    mine.scripted.succeed(first);
    expect((await mine.scripted.next("jobSettled")).stored).toBe(true);
    expect((await theirs.get(`/v1/jobs/${id}`)).state).toBe("queued");
    await mine.post(`/v1/runners/${mine.runner.runnerId}/share`);
    const offer = await mine.scripted.next("offer");
    expect(offer.lease.jobId).toBe(id);
    mine.scripted.succeed(offer);
    expect((await mine.scripted.next("jobSettled")).stored).toBe(true);
    const { runId } = await theirs.get(`/v1/jobs/${id}`);
    expect((await theirs.get(`/v1/runs/${runId}`)).jobId).toBe(id);
    // The lender of a runner does not see its use.
    expect(problemOf(await callEdge("GET", `/v1/runs/${runId}`, { key: mine.key })).code).toBe("not-found");
    await mine.post(`/v1/runners/${mine.runner.runnerId}/unshare`);
  });
});

describe("a project that is closed", () => {
  it("has no keys, tokens and runners any more, and its name stays taken", async () => {
    const [doomed, other] = [await openTenant(), await openTenant()];
    const { token } = await doomed.post("/v1/runners/tokens");
    const closed = await close(doomed.project);
    expect([closed.status, closed.json.closedAt]).toEqual([200, expect.any(String)]);
    expect((await doomed.scripted.next("refused")).problem.code).toBe("forbidden");
    expect((await doomed.scripted.nextClose()).code).toBe(CLOSE_CODES.removed);
    const { credential } = doomed.runner;
    for (const key of [doomed.key, credential]) {
      const path = key === credential ? "/v1/link" : "/v1/runners";
      expect(problemOf(await callEdge("GET", path, { key })).code).toBe("unauthorized");
    }
    const registered = await callEdge("POST", "/v1/runners", { key: null, body: { token, name: "late" } });
    expect(problemOf(registered).code).toBe("unauthorized");
    expect(problemOf(await keyFor(doomed.project)).code).toBe("not-found");
    expect(problemOf(await create(doomed.project)).code).toBe("conflict");
    expect((await close(doomed.project)).json).toEqual(closed.json);
    expect(await other.get(`/v1/runners/${other.runner.runnerId}`)).toMatchObject({ state: "online" });
  });

  it("has its jobs cancelled, whichever runner would do them", async () => {
    const [doomed, other] = [await openTenant(), await openTenant()];
    await other.post(`/v1/runners/${other.runner.runnerId}/share`);
    const jobs: string[] = [];
    for (const { runner } of [doomed, other]) {
      // One is running, one waits for its end.
      for (let count = 0; count < 2; count++) {
        const { id } = await doomed.post("/v1/jobs", { ...BENCHMARK, runnerId: runner.runnerId });
        jobs.push(id);
      }
    }
    const { lease } = await other.scripted.next("offer");
    await close(doomed.project);
    const queue = env.JOB_QUEUE.get(env.JOB_QUEUE.idFromName("main"));
    for (const id of jobs) expect(await queue.get(doomed.project, id)).toMatchObject({ state: "cancelled" });
    expect((await other.scripted.next("jobCancel")).lease).toEqual(lease);
    await other.post(`/v1/runners/${other.runner.runnerId}/unshare`);
  });

  it("is closed to a key that was made meanwhile, too", async () => {
    const { project } = await openTenant();
    const { secret } = (await keyFor(project)).json;
    await close(project);
    await env.DB.prepare("update keys set revoked_at_ms = null where project = ?").bind(project).run();
    expect(problemOf(await callEdge("GET", "/v1/runners", { key: secret })).code).toBe("unauthorized");
  });

  it("keeps what it stored", async () => {
    const tenant = await openTenant();
    await tenant.post("/v1/item-memories", { name: "kept", dimension: 2 });
    await close(tenant.project);
    const query = env.DB.prepare("select name from item_memories where project = ?").bind(tenant.project);
    expect((await query.all()).results).toEqual([{ name: "kept" }]);
  });

  it("is not the operator's, nor one that there is not", async () => {
    expect(problemOf(await close("main")).code).toBe("conflict");
    expect(problemOf(await close("nowhere")).code).toBe("not-found");
    expect((await callEdge("GET", "/v1/keys")).status).toBe(200);
  });
});
