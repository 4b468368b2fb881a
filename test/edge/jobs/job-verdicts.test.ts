import { runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import { JobStore } from "../../../src/edge/queue/job-store.ts";
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
    if (result !== null) store.saveResult(id, JSON.stringify(result));
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
  const text = new TextDecoder().decode((await queueStub().getText(MAIN_PROJECT, id)) ?? undefined);
  expect(text.endsWith(`,"result":${spaced}}`)).toBe(true);
  await runInDurableObject(queueStub(), (_, { storage }) => {
    storage.sql.exec("update job_results set result = ? where job_id = ?", JSON.stringify(probe), id);
  });
  expect((await callEdge("GET", `/v1/jobs/${id}`)).json).toMatchObject({ id, result: probe });
});

it("results in jobs' own rows are shown by the present schema, and moved, those of after a rollback too", async () => {
  const benchmark = { ...benchmarkResult(), roofline: null };
  const { counters: _, ...old } = benchmark as Record<string, unknown>;
  const stored = new Map<string, unknown>([
    [await storeJob("validation", validationResult()), validationResult()],
    [await storeJob("probe", probe), probe],
    [await storeJob("benchmark", benchmark), old],
  ]);
  await runInDurableObject(queueStub(), (_object, { storage }) => {
    for (const [id, result] of stored) {
      storage.sql.exec("update jobs set result = ? where id = ?", JSON.stringify(result), id);
      storage.sql.exec("delete from job_results where job_id = ?", id);
    }
  });
  const shown = async () => {
    const { items } = (await callEdge("GET", "/v1/jobs?limit=50")).json;
    const verdicts = (items as JobSummary[]).filter(({ id }) => stored.has(id)).map(({ id, verdict }) => [id, verdict]);
    const jobs = await Promise.all(
      [...stored.keys()].map(async (id) => (await callEdge("GET", `/v1/jobs/${id}`)).json),
    );
    return { verdicts: Object.fromEntries(verdicts), results: jobs.map(({ result }) => result) };
  };
  const before = await shown();
  const [validation, probed] = stored.keys();
  expect(before.verdicts).toMatchObject({ [validation!]: "fail", [probed!]: "pass" });
  expect(before.results[2]).toEqual(benchmark);
  const left = await runInDurableObject(queueStub(), (_object, { storage }) => {
    new JobStore(storage.sql).moveResults();
    return storage.sql.exec("select id from jobs where result is not null").toArray();
  });
  expect(left).toEqual([]);
  expect(await shown()).toEqual(before);
});
