import type { Job, JobInput } from "../../protocol/jobs/job.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { SpanScope } from "../../telemetry/span.ts";
import { formatTraceparent } from "../../telemetry/trace-context.ts";
import { jobQueue, type ProjectEnv } from "../config.ts";
import { prepareSpec } from "../kinds/prepare-spec.ts";
import { openProject } from "../store/database.ts";
import { findBuiltIn, selectProfile, toFoundProfile } from "../store/fleet/profile-store.ts";
import { selectInSight } from "../store/fleet/runner-store.ts";
import { quotaExceeded } from "../store/quotas/quota-problem.ts";
import { selectJobRoom } from "../store/quotas/quota-store.ts";
import { hexOf } from "../store/secret.ts";
import type { SubmitOutcome } from "./queue-rpc.ts";

/** Digest of a job's spec: two requests with one idempotency key must have the same digest. */
export async function digestRequest(spec: JobInput): Promise<string> {
  return hexOf(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(spec))));
}

/** Requesting key of a job, and its request. */
interface Submitter {
  readonly principal: { readonly id: string } | null;
  /** The caller's `Idempotency-Key`. */
  readonly key: string | undefined;
  readonly scope: SpanScope | null;
}

/** Queues a job for a caller. Throws a problem if it cannot be queued. */
export async function submitJob(env: ProjectEnv, { principal, key, scope }: Submitter, input: JobInput): Promise<Job> {
  const queue = jobQueue(env);
  // Two callers may use the same key without a conflict.
  const idempotencyKey = key === undefined ? null : `${principal?.id}:${key}`;
  const requestHash = await digestRequest(input);
  // First: what the request names may have changed since, or be gone, and a retry gets its job all the same.
  const known = idempotencyKey === null ? null : await queue.findSubmitted(idempotencyKey, requestHash);
  if (known !== null) return jobOf(known);
  const db = openProject(env);
  const named = input.profile ?? "";
  // One batch: a question to the database costs more than what it asks.
  const [[room], own, ...inSight] = await db.batch([selectJobRoom(db), selectProfile(db, named), ...selectInSight(db)]);
  // Once it has ended, nobody is there to be refused.
  if (room?.fits !== true) throw await quotaExceeded(env, { runs: 1 });
  const { mostQueued } = room;
  const profile = findBuiltIn(named) ?? toFoundProfile(own);
  const spec = await prepareSpec(env, input, profile, inSight.flat());
  const submission = { project: env.project, submittedBy: principal?.id ?? null, spec, profile, mostQueued };
  const traceparent = scope === null ? null : formatTraceparent(scope.context);
  return jobOf(await queue.submit({ ...submission, idempotencyKey, requestHash, traceparent }));
}

function jobOf(submitted: SubmitOutcome): Job {
  if (!submitted.ok) throw new ProblemError(submitted.problem.code, submitted.problem.detail, submitted.problem);
  return submitted.job;
}
