import { useEffect, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { JobEvent } from "../../protocol/job.ts";

/** After these nothing more happens to a job. */
const LAST = new Set<JobEvent["type"]>(["succeeded", "failed", "cancelled"]);
/** As of the feed: the edge says something every 15 s. */
const SILENCE_MS = 45_000;

/** What happened to a job so far, oldest first, and why nothing more is heard where the stream broke for good. */
export interface JobHistory {
  readonly events: readonly JobEvent[];
  readonly error: Error | null;
}

/** Follows the events of a job from its first to its last. */
export function useJobEvents(client: Client, id: string): JobHistory {
  const [history, setHistory] = useState<JobHistory>({ events: [], error: null });
  useEffect(() => {
    const abort = new AbortController();
    const read = async () => {
      const options = { params: { id }, schema: JobEvent, reconnect: true, silenceMs: SILENCE_MS };
      for await (const { data } of client.stream(endpoints.streamJobEvents, { ...options, signal: abort.signal })) {
        setHistory(({ events }) => ({ events: [...events, data], error: null }));
        if (LAST.has(data.type)) return;
      }
    };
    setHistory({ events: [], error: null });
    read().catch((error: unknown) => setHistory(({ events }) => ({ events, error: error as Error })));
    return () => abort.abort();
  }, [client, id]);
  return history;
}
