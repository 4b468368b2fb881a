import { endpoints } from "../protocol/endpoints.ts";
import type { Job, JobInput } from "../protocol/job.ts";
import type { Sendable } from "./call-options.ts";
import type { Client } from "./client.ts";

interface SubmitOptions {
  /** With the same key the same job comes back; a client that retries makes one where there is none. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** Queues a job. `waitForJob` and `followJob` tell what becomes of it. */
export function submitJob(client: Client, spec: Sendable<JobInput>, options: SubmitOptions = {}): Promise<Job> {
  const { idempotencyKey, ...rest } = options;
  return client.call(endpoints.createJob, { body: spec, headers: { "idempotency-key": idempotencyKey }, ...rest });
}
