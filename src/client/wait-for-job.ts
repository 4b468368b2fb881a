import { endpoints } from "../protocol/endpoints.ts";
import type { Job } from "../protocol/job.ts";
import type { Client } from "./client.ts";
import { followJob } from "./follow-job.ts";

/** Waits until a job has ended and gives it as it is then: with its result, or with the problem that ended it. */
export async function waitForJob(
  client: Client,
  id: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<Job> {
  // oxlint-disable-next-line no-unused-vars -- only its end counts
  for await (const _ of followJob(client, id, options));
  options.signal?.throwIfAborted();
  return client.call(endpoints.getJob, { params: { id }, ...options });
}
