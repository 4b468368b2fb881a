import type { Context } from "hono";
import type { Job, JobInput } from "../../protocol/jobs/job.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { formatTraceparent } from "../../telemetry/trace-context.ts";
import { jobQueue, type ProjectEnv } from "../config.ts";
import type { AppEnv } from "../http/bind.ts";
import { prepareSpec } from "../kinds/prepare-spec.ts";
import { openProject } from "../store/database.ts";
import { findProfile } from "../store/fleet/profile-store.ts";
import { hexOf } from "../store/secret.ts";
import type { SubmitOutcome } from "./accept-job.ts";

/** Digest of a job's spec: two requests with one idempotency key must have the same. */
export async function digestRequest(spec: JobInput): Promise<string> {
  return hexOf(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(spec))));
}

interface Submitter {
  readonly c: Context<AppEnv>;
  readonly env: ProjectEnv;
  readonly principal: { readonly id: string } | null;
  /** What the caller gave for `Idempotency-Key`. */
  readonly key: string | undefined;
}

/** Queues a job that a caller asks for, and says where it is. Throws the problem that is in the way. */
export async function submitJob({ c, env, principal, key }: Submitter, input: JobInput): Promise<Job> {
  const profile = input.profile === undefined ? null : await findProfile(openProject(env), input.profile);
  const spec = await prepareSpec(env, input, profile);
  const scope = c.get("scope");
  const submitted: SubmitOutcome = await jobQueue(env).submit({
    project: env.project,
    submittedBy: principal?.id ?? null,
    spec,
    profile,
    // Two callers may use the same key without meeting.
    idempotencyKey: key === undefined ? null : `${principal?.id}:${key}`,
    requestHash: await digestRequest(input),
    traceparent: scope === null ? null : formatTraceparent(scope.context),
  });
  if (!submitted.ok) throw new ProblemError(submitted.problem.code, submitted.problem.detail, submitted.problem);
  c.header("location", `/v1/jobs/${submitted.job.id}`);
  return submitted.job;
}
