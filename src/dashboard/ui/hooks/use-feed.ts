import { serviceEndpoints } from "../../../protocol/service/service-endpoints.ts";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Client } from "../../../client/client.ts";
import type { StreamState } from "../../../client/event-stream.ts";
import { FeedEvent } from "../../../protocol/service/service-state.ts";

/** The edge says something every 15 s; after three silent periods the connection is taken for dead. */
const SILENCE_MS = 45_000;

/** State of the event stream; `stopped` if a retry would not help. */
export type FeedState = StreamState | "stopped";

/** Subject to read again: the type of an event, or everything after a (re)connection. */
export type Change = FeedEvent["type"] | "everything";

/** Calls a listener at each change until what it returns is called. */
export type Subscribe = (listener: (change: Change) => void) => () => void;

/** Follows the live feed for as long as the component stands. */
export function useFeed(client: Client): { readonly state: FeedState; readonly subscribe: Subscribe } {
  const [state, setState] = useState<FeedState>("connecting");
  const listeners = useRef(new Set<(change: Change) => void>());
  useEffect(() => {
    const abort = new AbortController();
    const tell = (change: Change) => {
      for (const listener of listeners.current) listener(change);
    };
    const onState = (next: StreamState) => {
      setState(next);
      if (next === "open") tell("everything");
    };
    const follow = async () => {
      const options = { schema: FeedEvent, reconnect: true, silenceMs: SILENCE_MS, onState, signal: abort.signal };
      for await (const { data } of client.stream(serviceEndpoints.streamEvents, options)) tell(data.type);
    };
    follow().catch((error: unknown) => {
      console.warn("The live feed has stopped:", error);
      setState("stopped");
    });
    return () => abort.abort();
  }, [client]);
  const subscribe: Subscribe = useCallback((listener) => {
    listeners.current.add(listener);
    return () => listeners.current.delete(listener);
  }, []);
  return { state, subscribe };
}

/** Reads something again when the feed reports such a change. */
export function useRefreshOn(subscribe: Subscribe, kind: FeedEvent["type"], refresh: () => void): void {
  useEffect(
    () => subscribe((change) => (change === "everything" || change === kind ? refresh() : undefined)),
    [subscribe, kind, refresh],
  );
}
