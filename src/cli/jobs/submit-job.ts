import { randomUUID } from "node:crypto";
import type { Sendable } from "../../client/call-options.ts";
import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import type { JobInput } from "../../protocol/job.ts";
import type { Shell } from "../shell.ts";
import { concludeJob } from "./conclude-job.ts";
import { followJob } from "./follow-job.ts";
import type { JobOptions } from "./job-options.ts";

/** Queues a job, follows it and prints its result, or its id alone where it shall not be waited for. The exit code. */
export async function submitJob(
  client: Client,
  body: Sendable<JobInput>,
  { json, detach }: Pick<JobOptions, "json" | "detach">,
  shell: Shell,
): Promise<number> {
  const job = await client.call(endpoints.createJob, { body, headers: { "idempotency-key": randomUUID() } });
  if (detach) {
    shell.print(json ? `${JSON.stringify(job)}\n` : `${job.id}\n`);
    return 0;
  }
  return concludeJob(await followJob(client, job.id, shell, { json }), shell, json);
}
