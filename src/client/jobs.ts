import { jobEndpoints } from "../protocol/jobs/job-endpoints.ts";
import { type Job, JobEvent, type JobInput } from "../protocol/jobs/job.ts";
import type { Sendable } from "./call-options.ts";
import type { Client } from "./client.ts";

const LAST: ReadonlySet<JobEvent["type"]> = new Set(["succeeded", "failed", "cancelled"]);

/**
 * Iterates a job's events from its first to its last, over connections that break. An abort ends the iteration without
 * an error.
 */
export async function* followJob(
  client: Client,
  id: string,
  options: { readonly signal?: AbortSignal } = {},
): AsyncGenerator<JobEvent, void, undefined> {
  const stream = { params: { id }, schema: JobEvent, reconnect: true, ...options };
  for await (const { data } of client.stream(jobEndpoints.streamJobEvents, stream)) {
    yield data;
    if (LAST.has(data.type)) return;
  }
}

interface SubmitOptions {
  /** With the same key the same job comes back; a client that retries makes one where there is none. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** Queues a job. `waitForJob` and `followJob` report its progress. */
export function submitJob(client: Client, spec: Sendable<JobInput>, options: SubmitOptions = {}): Promise<Job> {
  const { idempotencyKey, ...rest } = options;
  return client.call(jobEndpoints.createJob, { body: spec, headers: { "idempotency-key": idempotencyKey }, ...rest });
}

/** Waits until a job has ended and gives it as it is then: with its result, or with the problem that ended it. */
export async function waitForJob(
  client: Client,
  id: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<Job> {
  // oxlint-disable-next-line no-unused-vars -- only its end counts
  for await (const _ of followJob(client, id, options));
  options.signal?.throwIfAborted();
  return client.call(jobEndpoints.getJob, { params: { id }, ...options });
}
