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
