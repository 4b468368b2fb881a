import { useEffect, useRef, useState } from "preact/hooks";
import type { Client } from "../client/client.ts";
import type { StreamState } from "../client/event-stream.ts";
import { endpoints } from "../protocol/endpoints.ts";
import { FeedEvent } from "../protocol/feed.ts";

/** The edge says something every 15 s; after three silent periods the connection is taken for dead. */
const SILENCE_MS = 45_000;

/** How the page hears of changes; `stopped` when trying again would not help. */
export type FeedState = StreamState | "stopped";

/** What to read again: what an event names, or everything after a connection was (re)made. */
export type Change = FeedEvent["type"] | "everything";

/** Follows the live feed for as long as the component stands. */
export function useFeed(client: Client, onChange: (change: Change) => void): FeedState {
  const [state, setState] = useState<FeedState>("connecting");
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    const abort = new AbortController();
    const onState = (next: StreamState) => {
      setState(next);
      if (next === "open") latest.current("everything");
    };
    const follow = async () => {
      const options = { schema: FeedEvent, reconnect: true, silenceMs: SILENCE_MS, onState, signal: abort.signal };
      for await (const { data } of client.stream(endpoints.streamEvents, options)) latest.current(data.type);
    };
    follow().catch((error: unknown) => {
      console.warn("The live feed has stopped:", error);
      setState("stopped");
    });
    return () => abort.abort();
  }, [client]);
  return state;
}
