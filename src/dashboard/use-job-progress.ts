import { useEffect, useState } from "preact/hooks";
import type { Client } from "../client/client.ts";
import { endpoints } from "../protocol/endpoints.ts";
import { JobEvent, type JobProgress, type JobSummary } from "../protocol/job.ts";

/** A job's progress, from its own event stream while `follow` holds, else as the list has it. */
export function useJobProgress(client: Client, job: JobSummary, follow: boolean): JobProgress | null {
  const [live, setLive] = useState<{ attempt: number; progress: JobProgress } | null>(null);
  const { id } = job;
  useEffect(() => {
    if (!follow) return;
    const abort = new AbortController();
    const read = async () => {
      const options = { params: { id }, schema: JobEvent, signal: abort.signal };
      for await (const { data } of client.stream(endpoints.streamJobEvents, options)) {
        if (data.progress !== null) setLive({ attempt: data.attempt, progress: data.progress });
      }
    };
    // A stream that breaks costs smoothness only: the feed still has the list read again.
    read().catch(() => undefined);
    return () => abort.abort();
  }, [client, id, follow]);
  return live !== null && live.attempt === job.attempt ? live.progress : job.progress;
}
