import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { LINK_MIGRATIONS, Outbox } from "../../../src/edge/link/outbox.ts";
import { JobStore } from "../../../src/edge/queue/job-store.ts";
import { grantLease, type JobRecord, revokeLease, succeed } from "../../../src/edge/queue/lease-machine.ts";
import { openTables, QUEUE_MIGRATIONS } from "../../../src/edge/queue/queue-tables.ts";
import { RunnerTable } from "../../../src/edge/queue/runner-table.ts";
import { migrateObject } from "../../../src/edge/store/migrate-object.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { BenchmarkSpec } from "../../../src/protocol/jobs/benchmark.ts";
import type { Job } from "../../../src/protocol/jobs/job.ts";
import { DEFAULT_QUOTAS } from "../../../src/edge/store/quotas/default-quotas.ts";
import { MAIN_PROJECT } from "../../../src/protocol/service/project.ts";
import { summarise } from "../../../src/stats/distribution/distribution.ts";
import { ADMIN, callEdge, createProject, fetchEdge, problemOf, registerRunner } from "../stack/edge-client.ts";
import { linkStub, queueStub } from "../stack/queue-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { capabilities } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";

/** Jobs of two projects in one queue. */

let lab: string;
const open: { readonly id: string; readonly key: string }[] = [];

beforeAll(async () => {
  ({ secret: lab } = await createProject("lab"));
});
afterEach(async () => {
  for (const key of [ADMIN, lab]) {
    for (const state of ["queued", "leased"]) {
      const { items } = (await callEdge("GET", `/v1/jobs?limit=200&state=${state}`, { key })).json;
      for (const { id } of items) await callEdge("POST", `/v1/jobs/${id}/cancel`, { key });
    }
  }
  for (const { id, key } of open.splice(0)) await callEdge("DELETE", `/v1/runners/${id}`, { key });
});

/** An online runner of the key's project. */
async function newRunnerOf(key: string, shared = false) {
  const runner = await registerRunner("sample", key);
  open.push({ id: runner.runnerId, key });
  if (shared) await share(runner.runnerId, key, "share");
  return { ...runner, scripted: await ScriptedRunner.online(runner) };
}

async function share(id: string, key: string, how: "share" | "unshare"): Promise<void> {
  expect((await callEdge("POST", `/v1/runners/${id}/${how}`, { key })).status).toBe(200);
}

async function submit(key: string, changes: object = {}): Promise<Job> {
  const body = { kind: "benchmark", kernel: "triad", shape: { n: 64 }, ...changes };
  const reply = await callEdge("POST", "/v1/jobs", { key, body });
  expect(reply.status, JSON.stringify(reply.json)).toBe(202);
  return reply.json;
}

const read = async (id: string, key: string): Promise<Job> => (await callEdge("GET", `/v1/jobs/${id}`, { key })).json;

describe("a job", () => {
  it("is there for its own project alone, with its run, its series and its events", async () => {
    const { scripted } = await newRunnerOf(lab);
    const changes = await fetchEdge("GET", "/v1/events");
    const { id } = await submit(lab, { label: "lab-only" });
    const offer = await scripted.next("offer");
    expect(offer.lease.jobId).toBe(id);
    scripted.succeed(offer);
    await scripted.next("jobSettled");
    const { runId } = await read(id, lab);
    const paths = ["", "/events", "/artifacts", "/plots/learning"].map((part) => `/v1/jobs/${id}${part}`);
    for (const path of [...paths, `/v1/runs/${runId}`, `/v1/runs/${runId}/samples`]) {
      expect(problemOf(await callEdge("GET", path)), path).toMatchObject({ code: "not-found" });
    }
    expect(problemOf(await callEdge("POST", `/v1/jobs/${id}/cancel`)).code).toBe("not-found");
    expect((await callEdge("GET", "/v1/jobs?limit=200")).json.items).toEqual([]);
    expect((await callEdge("GET", "/v1/history/series?label=lab-only")).json.items).toEqual([]);
    expect((await callEdge("GET", `/v1/runs/${runId}`, { key: lab })).status).toBe(200);
    const { items } = (await callEdge("GET", "/v1/history/series?label=lab-only", { key: lab })).json;
    expect(items.length).toBeGreaterThan(0);
    expect((await callEdge("GET", `/v1/history/points?series=${items[0].id}`)).status).toBe(404);

    // The operator's project sees its own jobs in the stream, and nothing of the lab's before them.
    const { runnerId } = await newRunnerOf(ADMIN);
    const { id: own } = await submit(ADMIN, { runnerId });
    const told = await readAllUntil(changes, own);
    expect(told).not.toContain(id);
  });

  it("goes to runners of its project, and to those that are shared", async () => {
    const mine = await newRunnerOf(ADMIN);
    const theirs = await newRunnerOf(lab);
    const blocker = await submit(lab);
    await theirs.scripted.next("offer");
    const { id } = await submit(lab);
    const own = await submit(ADMIN);
    expect((await mine.scripted.next("offer")).lease.jobId).toBe(own.id);
    await callEdge("POST", `/v1/jobs/${own.id}/cancel`);
    // It has room now, and works for its own project alone.
    const next = await submit(ADMIN);
    expect((await mine.scripted.next("offer")).lease.jobId).toBe(next.id);
    expect((await read(id, lab)).state).toBe("queued");
    await callEdge("POST", `/v1/jobs/${next.id}/cancel`);
    await share(mine.runnerId, ADMIN, "share");
    expect((await mine.scripted.next("offer")).lease.jobId).toBe(id);
    expect((await read(blocker.id, lab)).state).toBe("leased");
  });

  it("is taken from a runner that is shared no more, and waits for another", async () => {
    const { scripted, runnerId } = await newRunnerOf(ADMIN, true);
    const { id } = await submit(lab);
    const { lease } = await scripted.next("offer");
    expect(lease.jobId).toBe(id);
    await newRunnerOf(ADMIN);
    await share(runnerId, ADMIN, "unshare");
    expect(await scripted.next("jobCancel")).toMatchObject({ lease });
    expect(await read(id, lab)).toMatchObject({ state: "queued", problem: { code: "runner-lost" } });
  });

  it("that leaves files on a shared runner leaves them with its project", async () => {
    const { scripted, credential } = await newRunnerOf(ADMIN, true);
    const { id } = await submit(lab);
    const { lease } = await scripted.next("offer");
    const body = new TextEncoder().encode("a checkpoint");
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
    const digest = `sha256:${[...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
    const path = `/v1/link/jobs/${id}/artifacts/checkpoint?epoch=${lease.epoch}`;
    const put = await callEdge("PUT", `${path}&digest=${digest}`, {
      key: credential,
      body,
      headers: { "content-type": "application/octet-stream" },
    });
    expect(put.status, JSON.stringify(put.json)).toBe(200);
    expect((await fetchEdge("GET", path, { key: credential })).status).toBe(200);
    const file = `/v1/jobs/${id}/artifacts/checkpoint`;
    expect((await fetchEdge("GET", file, { key: lab })).status).toBe(200);
    expect((await fetchEdge("GET", file)).status).toBe(404);
  });

  it("waits for one slot behind many of another project", async () => {
    const { scripted } = await newRunnerOf(ADMIN, true);
    // What earlier tests used would count.
    await runInDurableObject(queueStub(), (_, { storage }) => storage.sql.exec("delete from project_turns"));
    for (let job = 0; job < 6; job++) await submit(ADMIN);
    const first = await scripted.next("offer");
    const theirs = [await submit(lab), await submit(lab)];
    const order: string[] = [];
    for (let offer = first; order.length < 5; offer = await scripted.next("offer")) {
      const isTheirs = theirs.some(({ id }) => id === offer.lease.jobId);
      order.push(isTheirs ? "lab" : "main");
      // Each counts as the shortest lease, however long it takes here.
      await runInDurableObject(queueStub(), (_, { storage }) =>
        storage.sql.exec("update jobs set turn_at_ms = ? where id = ?", Date.now() + 60_000, offer.lease.jobId),
      );
      scripted.succeed(offer);
      await scripted.next("jobSettled");
    }
    // Of two that have used as much, either may be next.
    expect(order.indexOf("lab")).toBe(1);
    expect(order.lastIndexOf("lab")).toBeLessThan(4);
  });
});

describe("a queue", () => {
  const far = BenchmarkSpec.parse({ kind: "benchmark", kernel: "triad", runnerId: createId("runner") });
  const about = {
    submittedBy: "key_filler",
    spec: far,
    profile: null,
    idempotencyKey: null,
    requestHash: "",
    maxAttempts: 1,
  };
  let filled = 0;
  const fill = (storage: DurableObjectStorage, project: string, count: number) =>
    storage.transactionSync(() => {
      const store = new JobStore(storage.sql);
      for (let job = 0; job < count; job++) {
        // In their order, also within a millisecond.
        const id = `job_${String(filled++).padStart(26, "0")}`;
        store.insert({ ...about, project, id, createdAtMs: Date.now() });
      }
    });

  it("that is full of two projects' jobs takes another's", async () => {
    await newRunnerOf(ADMIN, true);
    await runInDurableObject(queueStub(), (_, { storage }) => {
      for (const project of ["lab", "crowd"]) fill(storage, project, DEFAULT_QUOTAS.queuedJobs);
    });
    const body = { kind: "benchmark", kernel: "triad", shape: { n: 64 } };
    const refused = await callEdge("POST", "/v1/jobs", { key: lab, body });
    expect(problemOf(refused)).toMatchObject({ code: "queue-full", status: 429 });
    expect(problemOf(refused).quota).toEqual({
      name: "queuedJobs",
      used: DEFAULT_QUOTAS.queuedJobs,
      limit: DEFAULT_QUOTAS.queuedJobs,
    });
    expect((await callEdge("POST", "/v1/jobs", { body })).status).toBe(202);
    await runInDurableObject(queueStub(), (_, { storage }) =>
      storage.sql.exec("delete from jobs where project in ('lab', 'crowd')"),
    );
  });

  it("takes the edge's own calibrations where callers have filled it, and they take nothing from callers", async () => {
    const { runnerId } = await newRunnerOf(ADMIN, true);
    await runInDurableObject(queueStub(), (_, { storage }) => fill(storage, "main", DEFAULT_QUOTAS.queuedJobs));
    const body = { kind: "benchmark", kernel: "triad", shape: { n: 64 } };
    expect(problemOf(await callEdge("POST", "/v1/jobs", { body })).code).toBe("queue-full");
    const versionId = createId("modelVersion");
    expect(await queueStub().calibrateAnew("main", runnerId, versionId)).toMatchObject({ ok: true });
    await runInDurableObject(queueStub(), (_, { storage }) => {
      const sql = storage.sql;
      sql.exec("delete from jobs where submitted_by = 'key_filler'");
      expect(new JobStore(sql).countQueued()).toBe(0);
      sql.exec("delete from jobs where spec->>'modelVersionId' = ?", versionId);
    });
  });

  it("forgets the oldest ended jobs, but the latest of no project", async () => {
    const full = env.JOB_QUEUE.get(env.JOB_QUEUE.idFromName("full"));
    const kept = await runInDurableObject(full, (_, { storage }) => {
      fill(storage, "quiet", 5);
      fill(storage, "busy", 40);
      storage.sql.exec("update jobs set state = 'cancelled', ended_at_ms = 1");
      new JobStore(storage.sql).prune(20, 3);
      return storage.sql.exec("select project, count(*) as count from jobs group by 1 order by 1").toArray();
    });
    expect(kept).toEqual([
      { project: "busy", count: 20 },
      { project: "quiet", count: 3 },
    ]);
  });

  it("gives shared runners to the project whose jobs have used the least of their time", async () => {
    const queue = env.JOB_QUEUE.get(env.JOB_QUEUE.idFromName("turns"));
    await runInDurableObject(queue, (_, { storage }) => {
      const { sql } = storage;
      let nowMs = 1_000;
      const { turns, store, log } = openTables(sql, () => nowMs);
      for (const project of ["long", "short"]) fill(storage, project, 4);
      const used = () => ["long", "short", "away"].map((project) => turns.read(nowMs).turnOf(project));
      const lease = (project: string, { isShared = true } = {}) => {
        const next = "select id from jobs where project = ? and state = 'queued'";
        const queued = store.findRecord(sql.exec<{ id: string }>(next, project).toArray()[0]!.id)!;
        if (isShared) turns.begin([{ id: queued.id, project }], turns.read(nowMs), nowMs);
        const leased = grantLease(queued, "rnr_a", nowMs, 60_000);
        log.apply(queued, leased, null);
        return (ranMs: number, end: (job: JobRecord) => JobRecord = (job) => succeed(job, nowMs)) => {
          nowMs += ranMs;
          log.apply(leased, end(leased), null);
        };
      };
      const endLong = lease("long");
      nowMs += 30_000;
      expect(used()).toEqual([30_000, 0, 0]);
      endLong(30_000);
      lease("short")(20_000, revokeLease);
      // Its own runner is nobody else's; the shortest lease counts as a second.
      lease("long", { isShared: false })(500_000);
      lease("short")(1);
      // One that has no turns, for want of jobs or because none can run, is not owed what it did not use.
      expect(used()).toEqual([60_000, 21_000, 19_000]);
    });
  });

  it("from before there were projects has the operator's jobs and runners", async () => {
    const old = env.JOB_QUEUE.get(env.JOB_QUEUE.idFromName("old"));
    const id = createId("job");
    const spec = BenchmarkSpec.parse({ kind: "benchmark", kernel: "triad" });
    await runInDurableObject(old, (_, { storage }) => {
      const { sql } = storage;
      for (const table of ["jobs", "runners", "project_turns", "layout"]) sql.exec(`drop table ${table}`);
      sql.exec("drop table runner_standings");
      migrateObject(storage, QUEUE_MIGRATIONS.slice(0, 2));
      sql.exec(
        `insert into jobs (id, state, attempt, max_attempts, epoch, created_at_ms, spec, kind, request_hash)
         values (?, 'queued', 0, 1, 0, 1, ?, 'benchmark', '')`,
        id,
        JSON.stringify(spec),
      );
      sql.exec("insert into runners values ('rnr_old', ?, 1, 0)", JSON.stringify(capabilities));
      migrateObject(storage, QUEUE_MIGRATIONS);
      const jobs = new JobStore(sql);
      expect(jobs.projectOf(id)).toBe(MAIN_PROJECT);
      const waiting = [...jobs.queuedFor(new Set(), "a fleet")].map(([project, own]) => [
        project,
        [...own].map(({ record }) => record.id),
      ]);
      expect(waiting).toEqual([[MAIN_PROJECT, [id]]]);
      expect(new RunnerTable(sql).list()).toMatchObject([{ id: "rnr_old", project: MAIN_PROJECT, shared: false }]);
    });
  });
});

describe("what live requests left", () => {
  it("becomes points of the project whose requests they were, also from an outbox of before", async () => {
    const { runnerId } = await newRunnerOf(ADMIN, true);
    const key = {
      subjectKind: "model" as const,
      subject: "same@1",
      metric: "refused.overloaded",
      unit: "requests",
      clock: null,
      direction: "lower" as const,
      configuration: {},
      fingerprint: null,
      software: false,
      label: null,
    };
    const { count, min, max, sum, sketch } = summarise([1]);
    const aggregate = { count, min, max, sum, sketch };
    await runInDurableObject(linkStub(runnerId), (_, { storage }) => {
      const { sql } = storage;
      new Outbox(sql, "before").add({ project: "lab", key, aggregate }, Date.now());
      sql.exec("alter table outbox drop column project");
      // Of the release before projects.
      sql.exec("create table health_reports (id integer primary key, report text not null)");
      sql.exec("update layout set version = 2");
      migrateObject(storage, LINK_MIGRATIONS);
    });
    const refused = (project: string) => ({ project, subject: "same@1", refusedFor: "overloaded" as const });
    await linkStub(runnerId).record([refused("lab"), refused(MAIN_PROJECT), refused("lab")]);
    const counts = async () => {
      await runDurableObjectAlarm(linkStub(runnerId));
      const { results } = await env.DB.prepare(
        `select project, sum(points.count) as count from points join series on no = series_no
         where subject = 'same@1' group by 1 order by 1`,
      ).all<{ project: string; count: number }>();
      return results;
    };
    await expect.poll(counts, BOUND).toEqual([
      { project: "lab", count: 2 },
      { project: MAIN_PROJECT, count: 2 },
    ]);
  });
});

/** The stream's content until it contains this text. */
async function readAllUntil(response: Response, text: string): Promise<string> {
  let told = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    told += chunk;
    if (told.includes(text)) break;
  }
  return told;
}
