import { historyEndpoints } from "../../../protocol/history/history-endpoints.ts";
import { useCallback } from "preact/hooks";
import type { Client } from "../../../client/client.ts";
import type { Series } from "../../../protocol/history/series.ts";
import { type Subscribe, useRefreshOn } from "../../ui/hooks/use-feed.ts";
import { type Resource, useResource } from "../../ui/hooks/use-resource.ts";

const SERIES_READ = 100;
/** Every inference changes the history; reading it again may wait. */
const HISTORY_GAP_MS = 2_000;

/** The newest series, and the one that the address names even where it is none of them. */
export function useSeriesList(
  client: Client,
  subscribe: Subscribe,
  linked: string | undefined,
): Resource<readonly Series[]> {
  const list = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        (await client.call(historyEndpoints.listSeries, { query: { limit: SERIES_READ }, signal })).items,
      [client],
    ),
    HISTORY_GAP_MS,
  );
  useRefreshOn(subscribe, "history", list.refresh);
  const missing =
    linked !== undefined && list.value !== null && !list.value.some(({ id }) => id === linked) ? linked : null;
  const further = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        missing === null ? [] : [await client.call(historyEndpoints.getSeries, { params: { id: missing }, signal })],
      [client, missing],
    ),
  );
  const isWaiting = missing !== null && further.value?.length !== 1 && further.error === null;
  return {
    value: list.value === null || isWaiting ? null : [...list.value, ...(further.value ?? [])],
    error: list.error ?? further.error,
    refresh: list.refresh,
  };
}
