import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { JobStore } from "../../../src/edge/queue/job-store.ts";
import { QUEUE_MIGRATIONS } from "../../../src/edge/queue/queue-tables.ts";
import { migrateObject } from "../../../src/edge/store/migrate-object.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { type JobResult, JobSpec, JobSummary } from "../../../src/protocol/jobs/job.ts";
import { MAIN_PROJECT } from "../../../src/protocol/service/project.ts";
import { callEdge } from "../stack/edge-client.ts";
import { queueStub } from "../stack/queue-client.ts";
import { benchmarkResult } from "../stack/samples.ts";
import { infeasibleResult, optimisationResult, validationResult } from "../stack/validation-samples.ts";

const claim = { claim: "subgroups", claimed: "yes", found: "yes", ok: true };
const probe: JobResult = { kind: "probe", ok: true, claims: [claim], environment: benchmarkResult().environment };

/** A job of the queue that ended well, or one without a result where there is none yet. */
async function storeJob(kind: string, result: JobResult | null): Promise<string> {
  const id = createId("job");
  const subject = { kind: "model", model: "lenet5" };
  const scenarios = [{ kind: "offline" }];
  const spec = JobSpec.parse({
    kind,
    subject,
    scenarios,
    requirements: [],
    targets: {},
    objective: "throughput",
    space: {},
    kernel: "triad",
  });
  await runInDurableObject(queueStub(), (_, { storage }) => {
    const store = new JobStore(storage.sql);
    const about = { profile: null, idempotencyKey: null, requestHash: "none", createdAtMs: 1, maxAttempts: 3 };
    store.insert({ id, project: MAIN_PROJECT, submittedBy: null, spec, ...about });
    if (result !== null) store.saveResult(id, result);
    const record = store.findRecord(id);
    if (record === null) throw new Error("the job was not stored");
    store.save({ ...record, state: result === null ? "cancelled" : "succeeded" });
  });
  return id;
}

it("a list of jobs has the verdict of those that judge, and null for others", async () => {
  const wanted = new Map([
    [await storeJob("validation", validationResult()), "fail"],
    [await storeJob("validation", validationResult({ verdict: "insufficient" })), "insufficient"],
    [await storeJob("optimisation", optimisationResult({ best: 0 })), "pass"],
    [await storeJob("optimisation", infeasibleResult()), "fail"],
    [await storeJob("probe", probe), "pass"],
    [await storeJob("probe", { ...probe, ok: false }), "fail"],
    [await storeJob("benchmark", benchmarkResult()), null],
    [await storeJob("optimisation", null), null],
  ]);
  const { items } = (await callEdge("GET", "/v1/jobs?limit=50")).json;
  const found = (items as unknown[]).map((item) => JobSummary.parse(item)).filter(({ id }) => wanted.has(id));
  expect(new Map(found.map(({ id, verdict }) => [id, verdict]))).toEqual(
    new Map([...wanted].toSorted(([a], [b]) => b.localeCompare(a))),
  );
});

it("neither lists nor the reading of a job parse its result again", async () => {
  const id = await storeJob("probe", probe);
  const spaced = '{ "kind": "probe" ';
  await runInDurableObject(queueStub(), (_, { storage }) => {
    storage.sql.exec("update job_results set result = ? where job_id = ?", spaced, id);
  });
  const { items } = (await callEdge("GET", "/v1/jobs?limit=50&kind=probe")).json;
  expect(items).toContainEqual(expect.objectContaining({ id, verdict: "pass" }));
  expect((await queueStub().getText(MAIN_PROJECT, id))?.endsWith(`,"result":${spaced}}`)).toBe(true);
  await runInDurableObject(queueStub(), (_, { storage }) => {
    storage.sql.exec("update job_results set result = ? where job_id = ?", JSON.stringify(probe), id);
  });
  expect((await callEdge("GET", `/v1/jobs/${id}`)).json).toMatchObject({ id, result: probe });
});

it("results of before they had a table of their own are moved there", async () => {
  const moved = await runInDurableObject(env.JOB_QUEUE.get(env.JOB_QUEUE.newUniqueId()), (_, { storage }) => {
    const before = QUEUE_MIGRATIONS.findIndex((step) =>
      String(step).includes("create table if not exists job_results"),
    );
    storage.sql.exec("drop table job_results");
    storage.sql.exec("update layout set version = ?", before);
    const roofline = { shareOfRoof: 0.5 };
    for (const [kind, result] of Object.entries({ probe, validation: validationResult(), benchmark: { roofline } })) {
      storage.sql.exec(
        `insert into jobs (id, state, attempt, max_attempts, epoch, created_at_ms, spec, kind, request_hash, result)
         values (?1, 'succeeded', 1, 3, 1, 1, '{}', ?1, '', ?2)`,
        kind,
        JSON.stringify(result),
      );
    }
    migrateObject(storage, QUEUE_MIGRATIONS);
    expect(storage.sql.exec("select id from jobs where result is not null").toArray()).toEqual([]);
    return storage.sql.exec("select job_id, verdict, roofline, result from job_results order by 1").toArray();
  });
  expect(moved).toEqual([
    expect.objectContaining({ job_id: "benchmark", verdict: null, roofline: '{"shareOfRoof":0.5}' }),
    { job_id: "probe", verdict: "pass", roofline: null, result: JSON.stringify(probe) },
    expect.objectContaining({ job_id: "validation", verdict: "fail", roofline: null }),
  ]);
});
