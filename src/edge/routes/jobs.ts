import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import type { Capabilities } from "../../protocol/hardware.ts";
import type { Job, JobSpec } from "../../protocol/job.ts";
import { type FieldError, ProblemError } from "../../protocol/problem.ts";
import type { Profile } from "../../protocol/profile.ts";
import { fitProfile } from "../budget/profile-fit.ts";
import type { Env } from "../config.ts";
import { type AppEnv, bind, invalidRequest } from "../http/bind.ts";
import { mutable } from "../http/mutable.ts";
import { checkBenchmark, checkSubmitted } from "../queue/check-benchmark.ts";
import { checkDevice, refuseQuarantined } from "../queue/check-device.ts";
import { digestRequest } from "../queue/digest-request.ts";
import type { SubmitOutcome } from "../queue/job-queue.ts";
import { decodeCursor } from "../store/cursor.ts";
import { type Database, openDatabase } from "../store/database.ts";
import { findKernel, isKernelId } from "../store/kernel-store.ts";
import { findModelVersion } from "../store/model-store.ts";
import { findProfile } from "../store/profile-store.ts";
import { findRunner, readAllCapabilities } from "../store/runner-store.ts";
import { jobQueue } from "../stubs.ts";

export function bindJobs(app: Hono<AppEnv>): void {
  bind(app, endpoints.createJob, async ({ c, env, principal, headers, body }) => {
    const profile = body.profile === undefined ? null : await findProfile(openDatabase(env.DB), body.profile);
    const spec = await checkSpec(env, body, profile);
    const key = headers["idempotency-key"];
    const submitted: SubmitOutcome = await jobQueue(env).submit({
      spec,
      profile,
      // Two callers may use the same key without meeting.
      idempotencyKey: key === undefined ? null : `${principal?.id}:${key}`,
      requestHash: await digestRequest(body),
    });
    if (!submitted.ok) throw new ProblemError(submitted.problem.code, submitted.problem.detail, submitted.problem);
    c.header("location", `/v1/jobs/${submitted.job.id}`);
    return submitted.job;
  });

  bind(app, endpoints.listJobs, async ({ env, query }) => {
    // Decoded on this side: what the queue throws comes out of its RPC as `internal`.
    const beforeId = query.cursor === undefined ? null : String(decodeCursor(query.cursor, 1)[0]);
    return jobQueue(env).list(query, beforeId);
  });
  bind(app, endpoints.getJob, async ({ env, params }) => mustFind(params.id, await jobQueue(env).get(params.id)));
  bind(app, endpoints.cancelJob, async ({ env, params }) => mustFind(params.id, await jobQueue(env).cancel(params.id)));

  bind(app, endpoints.streamJobEvents, async ({ c, env, params }) => {
    const url = new URL(`/jobs/${params.id}`, c.req.url);
    const response = await jobQueue(env).fetch(url, { headers: lastEventId(c.req.header("last-event-id")) });
    return response.status === 404 ? mustFind(params.id, null) : mutable(response);
  });
}

/** Checks what the schema cannot: that what a job names is there. Gives the spec with what it leaves to the edge. */
async function checkSpec(env: Env, spec: JobSpec, profile: Profile | null): Promise<JobSpec> {
  const db = openDatabase(env.DB);
  const errors = [];
  if (spec.profile !== undefined && profile === null) {
    errors.push({ pointer: "#/profile", message: "is not a hardware profile" });
  }
  const runner = spec.runnerId === undefined ? null : await findRunner(db, spec.runnerId, []);
  if (spec.runnerId !== undefined && runner === null) {
    errors.push({ pointer: "#/runnerId", message: "is not a registered runner" });
  }
  if (spec.kind === "calibration" && (await findModelVersion(db, spec.modelVersionId)) === null) {
    errors.push({ pointer: "#/modelVersionId", message: "is not a version of a model" });
  }
  if (spec.kind === "throughput" && spec.adaptMs + spec.measureMs >= spec.timeoutMs) {
    errors.push({ pointer: "#/timeoutMs", message: "must be longer than adaptMs and measureMs together" });
  }
  if (spec.kind === "calibration") {
    if (errors.length > 0) throw invalidRequest(errors);
    return spec;
  }
  const announced = await readAllCapabilities(db);
  const named = runner === null ? announced : [runner.capabilities].filter((known) => known !== null);
  const candidates = named.filter((known) => profile === null || fitProfile(profile, known).fits);
  const checked = await checkKernel(db, spec, announced);
  errors.push(...checked.errors, ...checkDevice(checked.spec, candidates));
  if (errors.length > 0) throw invalidRequest(errors);
  refuseQuarantined(checked.spec, candidates, Date.now());
  return checked.spec;
}

type KernelJob = Exclude<JobSpec, { kind: "calibration" }>;

/** The kernel of a job: one that runners announce or, for a benchmark, one that was submitted. */
async function checkKernel(
  db: Database,
  spec: KernelJob,
  runners: readonly Capabilities[],
): Promise<{ spec: KernelJob; errors: FieldError[] }> {
  if (spec.kind !== "benchmark" || !isKernelId(spec.kernel)) return { spec, errors: checkBenchmark(spec, runners) };
  const submitted = await findKernel(db, spec.kernel);
  if (submitted === null) return { spec, errors: checkBenchmark(spec, runners) };
  return { spec: { ...spec, reference: submitted.reference }, errors: checkSubmitted(spec, submitted, runners) };
}

function mustFind(id: string, job: Job | null): Job {
  if (job === null) throw new ProblemError("not-found", `There is no job ${id}.`);
  return job;
}

function lastEventId(id: string | undefined): Record<string, string> {
  return id === undefined ? {} : { "last-event-id": id };
}
