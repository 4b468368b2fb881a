import { useCallback } from "preact/hooks";
import type { Client } from "../client/client.ts";
import { endpoints } from "../protocol/endpoints.ts";
import { ConnectionBadge } from "./connection-badge.tsx";
import { LazyView } from "./lazy-view.tsx";
import { Masthead } from "./masthead.tsx";
import { Overview } from "./overview.tsx";
import { useAddress } from "./use-address.ts";
import { useFeed, useRefreshOn } from "./use-feed.ts";
import { useResource } from "./use-resource.ts";
import { useWriter } from "./use-writer.ts";

const COUNTED_ALERTS = 100;

/** The views of the page under one head, kept up to date by the live feed. */
export function Pages({ client, onLeave }: { client: Client; onLeave: () => void }) {
  const { state, subscribe } = useFeed(client);
  const [address, change] = useAddress();
  const writer = useWriter();
  const open = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        (await client.call(endpoints.listAlerts, { query: { state: "open", limit: COUNTED_ALERTS }, signal })).items
          .length,
      [client],
    ),
  );
  useRefreshOn(subscribe, "alert", open.refresh);
  const shared = { client, subscribe, address, onPick: change, writer };
  return (
    <>
      <Masthead
        current={address.view === "overview" ? "/" : `/#view=${address.view}`}
        openAlerts={open.value === COUNTED_ALERTS ? `${COUNTED_ALERTS - 1}+` : String(open.value ?? "")}
      >
        <ConnectionBadge state={state} />
        <button type="button" onClick={onLeave}>
          Forget key
        </button>
      </Masthead>
      {address.view === "overview" && <Overview {...shared} />}
      {address.view !== "overview" && <LazyView key={address.view} name={address.view} {...shared} />}
    </>
  );
}
