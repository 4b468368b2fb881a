import { useCallback, useState } from "preact/hooks";
import type { Client } from "../client/client.ts";
import { endpoints } from "../protocol/endpoints.ts";
import type { Trade, TradedPlacement } from "../protocol/trade.ts";
import { Panel } from "./panel.tsx";
import { SweepFigure } from "./sweep-figure.tsx";
import { TradeTable } from "./trade-table.tsx";
import { type Subscribe, useRefreshOn } from "./use-feed.ts";
import { useResource } from "./use-resource.ts";

/** Jobs tell of themselves often; only calibrations change what is shown here. */
const TRADE_GAP_MS = 2_000;

interface TradePanelProps {
  readonly client: Client;
  readonly subscribe: Subscribe;
}

/** What the variants of a model gain and lose, and the batch sizes of one of them; nothing where none is uploaded. */
export function TradePanel({ client, subscribe }: TradePanelProps) {
  const models = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        (await client.call(endpoints.listModels, { signal })).items.map(({ name }) => name),
      [client],
    ),
    TRADE_GAP_MS,
  );
  useRefreshOn(subscribe, "job", models.refresh);
  const [picked, setPicked] = useState<string | null>(null);
  const names = models.value ?? [];
  const model = names.find((name) => name === picked) ?? names[0];
  if (model === undefined && models.error === null) return null;
  return (
    <Panel
      id="trade"
      title="Variants and batch sizes"
      resource={models}
      aside={
        names.length > 1 && (
          <div class="picker">
            <label>
              Model
              <select value={model} onChange={({ currentTarget: { value } }) => setPicked(value)}>
                {names.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </label>
          </div>
        )
      }
    >
      {model !== undefined && <ModelTrade key={model} client={client} subscribe={subscribe} model={model} />}
    </Panel>
  );
}

function ModelTrade({ client, subscribe, model }: TradePanelProps & { readonly model: string }) {
  const { value, error, refresh } = useResource(
    useCallback(
      (signal: AbortSignal): Promise<Trade> => client.call(endpoints.getModelTrade, { params: { model }, signal }),
      [client, model],
    ),
    TRADE_GAP_MS,
  );
  useRefreshOn(subscribe, "job", refresh);
  const [picked, setPicked] = useState<TradedPlacement | null>(null);
  const items = value?.items ?? [];
  const shown = items.find(({ placementId }) => placementId === picked?.placementId) ?? null;
  return (
    <div class="judged">
      {value === null && <p class="muted">{error === null ? "Reading …" : `It could not be read: ${error.message}`}</p>}
      {value !== null && items.length === 0 && <p class="muted">{`${model} is placed nowhere yet.`}</p>}
      {items.length > 0 && <TradeTable items={items} shown={shown?.placementId ?? null} onShow={setPicked} />}
      {/* Measured anew, it is read anew. */}
      {shown !== null && (
        <SweepFigure key={`${shown.placementId} ${shown.p50Ms}`} client={client} id={shown.placementId} />
      )}
    </div>
  );
}
