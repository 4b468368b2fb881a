import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { type Job, JobEvent } from "../../protocol/job.ts";
import { openProgressLine } from "../render/progress-line.ts";
import type { Shell } from "../shell.ts";
import { describeEvent } from "./describe-progress.ts";

/** What a process ends with that was interrupted, as shells have it: 128 and the number of the signal. */
export const INTERRUPTED = 130;
const ENDS: ReadonlySet<JobEvent["type"]> = new Set(["succeeded", "failed", "cancelled"]);

interface FollowOptions {
  readonly json: boolean;
  readonly onEvent?: (event: JobEvent) => void;
}

/**
 * Follows a job to its end, through restarts of the edge, and gives it as it ended. Ctrl-C leaves it: null, and the job
 * goes on.
 */
export async function followJob(
  client: Client,
  id: string,
  shell: Shell,
  { json, onEvent }: FollowOptions,
): Promise<Job | null> {
  const leaving = new AbortController();
  const letGo = shell.onInterrupt(() => leaving.abort());
  const line = openProgressLine(shell, !json);
  try {
    const options = { params: { id }, schema: JobEvent, reconnect: true, signal: leaving.signal };
    for await (const { data } of client.stream(endpoints.streamJobEvents, options)) {
      onEvent?.(data);
      if (ENDS.has(data.type)) break;
      line.show(describeEvent(data));
    }
  } finally {
    letGo();
    line.clear();
  }
  if (!leaving.signal.aborted) return client.call(endpoints.getJob, { params: { id } });
  shell.warn(`${id} goes on. Follow it: millrace jobs watch ${id}. End it: millrace jobs cancel ${id}.\n`);
  return null;
}
