import { jobEndpoints } from "../../protocol/jobs/job-endpoints.ts";
import { useEffect, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { JobEvent } from "../../protocol/jobs/job.ts";
import { describeEvent } from "../../words/jobs.ts";
import { formatDuration } from "../../words/numbers.ts";
import { Timestamp } from "../ui/timestamp.tsx";
import { DataTable } from "../ui/data-table.tsx";

/** After these nothing more happens to a job. */
const LAST = new Set<JobEvent["type"]>(["succeeded", "failed", "cancelled"]);
/** As of the feed: the edge says something every 15 s. */
const SILENCE_MS = 45_000;

/** Events of a job so far, oldest first, and the error that ended the stream, if any. */
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
      for await (const { data } of client.stream(jobEndpoints.streamJobEvents, { ...options, signal: abort.signal })) {
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

/** So many steps of progress are listed; the states of a job always are. */
const PROGRESS_SHOWN = 100;

/** Events of a job, newest first, with the time since it was queued. */
export function EventLog({ history: { events, error } }: { history: JobHistory }) {
  const steps = events.filter(({ type }) => type === "progress");
  const firstShown = steps.at(-PROGRESS_SHOWN)?.seq ?? 0;
  const shown = events.filter(({ type, seq }) => type !== "progress" || seq >= firstShown);
  const left = events.length - shown.length;
  const beganMs = Date.parse(events[0]?.at ?? "");
  return (
    <>
      {error !== null && <p class="notice bad">{`Its events are no longer heard: ${error.message}`}</p>}
      <div class="log event-log" role="region" aria-label="Events" tabIndex={0}>
        <DataTable
          class="points"
          rows={shown.toReversed()}
          keyOf={(event) => event.seq}
          columns={[
            { name: "Time", cell: (event) => <Timestamp at={event.at} /> },
            { name: "After", cell: (event) => formatDuration(Date.parse(event.at) - beganMs) },
            { name: "Attempt", cell: (event) => (event.attempt === 0 ? "–" : event.attempt) },
            { name: "Event", cell: (event) => describeEvent(event) },
          ]}
        />
      </div>
      {left > 0 && <p class="muted">{`${left} earlier steps of progress are left out.`}</p>}
    </>
  );
}
