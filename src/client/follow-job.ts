import { endpoints } from "../protocol/endpoints.ts";
import { JobEvent } from "../protocol/job.ts";
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
  for await (const { data } of client.stream(endpoints.streamJobEvents, stream)) {
    yield data;
    if (LAST.has(data.type)) return;
  }
}
