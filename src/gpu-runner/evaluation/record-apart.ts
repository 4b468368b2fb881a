import type { RecordRequest } from "./record-episodes.ts";
import { runThread } from "./run-thread.ts";

/** Records episodes in a thread of its own; see `recordEpisodes`. An aborted signal ends it. */
export function recordApart(request: RecordRequest, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  return runThread(new URL("record-worker.ts", import.meta.url), request, signal);
}
