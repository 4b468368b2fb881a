import type { Client } from "../../client/client.ts";
import { followJob } from "../../client/jobs.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import type { Job, JobEvent } from "../../protocol/jobs/job.ts";
import { describeEvent, describeFindings } from "../../words/jobs.ts";
import { TERMINAL } from "../render/format-values.ts";
import { openProgressLine, type Progress } from "../render/progress-line.ts";
import type { Shell } from "../shell/shell.ts";

/** An event of a job as progress that a person reads; null at its end, since the result is printed after it. */
function showEvent(event: JobEvent): Progress | null {
  const { type, attempt, progress } = event;
  if (progress !== null) {
    const { phase, done, total } = progress;
    return { what: phase, done, total, note: describeFindings(progress, TERMINAL).join(", ") || undefined };
  }
  if (type === "succeeded" || type === "failed" || type === "cancelled") return null;
  const again = type === "leased" && attempt > 1 ? `, attempt ${attempt}` : "";
  return { what: `${describeEvent(event)}${again}`, done: 0, total: 0 };
}

/** Exit code of an interrupted process, as in shells: 128 plus the signal's number. */
export const INTERRUPTED = 130;

interface WatchOptions {
  readonly json: boolean;
  readonly onEvent?: (event: JobEvent) => void;
}

/**
 * Follows a job to its end, through restarts of the edge, and gives it as it ended. Ctrl-C leaves it: null, and the job
 * goes on.
 */
export async function watchJob(
  client: Client,
  id: string,
  shell: Shell,
  { json, onEvent }: WatchOptions,
): Promise<Job | null> {
  const leaving = new AbortController();
  const letGo = shell.onInterrupt(() => leaving.abort());
  const line = openProgressLine(shell, !json);
  try {
    for await (const event of followJob(client, id, { signal: leaving.signal })) {
      onEvent?.(event);
      const progress = showEvent(event);
      if (progress !== null) line.show(progress);
    }
  } finally {
    letGo();
    line.clear();
  }
  if (!leaving.signal.aborted) return client.call(endpoints.getJob, { params: { id } });
  shell.warn(`${id} goes on. Follow it: millrace jobs watch ${id}. End it: millrace jobs cancel ${id}.\n`);
  return null;
}
