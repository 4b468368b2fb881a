import { useEffect, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { LiveEvent, type LiveReport } from "../../protocol/live.ts";
import { keepRecent } from "./keep-recent.ts";

/** The edge says something every 15 s at least; after three silent periods the connection is taken for dead. */
const SILENCE_MS = 45_000;

export interface Live {
  /** `waiting` between two tries to connect, `ended` when trying again would not help. */
  readonly state: "connecting" | "online" | "offline" | "waiting" | "ended";
  /** Oldest first. */
  readonly reports: readonly LiveReport[];
}

const NOTHING: Live = { state: "connecting", reports: [] };

/** Watches a runner for as long as the component stands: what it told in the last while. */
export function useLive(client: Client, id: string): Live {
  const [live, setLive] = useState(NOTHING);
  useEffect(() => {
    const abort = new AbortController();
    const become = (state: Live["state"]) => setLive(({ reports }) => ({ state, reports }));
    const take = (event: LiveEvent) => {
      if (event.type !== "report") return become(event.type);
      setLive(({ reports }) => ({ state: "online", reports: keepRecent(reports, event.report) }));
    };
    const follow = async () => {
      const stream = client.stream(endpoints.streamRunnerLive, {
        params: { id },
        schema: LiveEvent,
        reconnect: true,
        silenceMs: SILENCE_MS,
        signal: abort.signal,
        onState: (state) => (state === "waiting" ? become("waiting") : undefined),
      });
      for await (const { data } of stream) take(data);
    };
    setLive(NOTHING);
    follow().catch((error: unknown) => {
      console.warn("The runner cannot be watched any more:", error);
      become("ended");
    });
    return () => abort.abort();
  }, [client, id]);
  return live;
}
