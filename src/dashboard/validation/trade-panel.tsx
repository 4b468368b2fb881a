import { modelEndpoints } from "../../protocol/models/model-endpoints.ts";
import { plotEndpoints } from "../../protocol/models/plot-endpoints.ts";
import { useCallback, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import type { PlacementSweep, Trade, TradedPlacement } from "../../protocol/models/trade-offs.ts";
import { formatBytes } from "../../words/numbers.ts";
import { SvgPlot } from "../plots/svg-plot.tsx";
import { type Subscribe, useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import { Fact, Panel } from "../ui/panels.tsx";
import { TradeTable } from "./trade-table.tsx";
import { plainOptions } from "../../words/form-fields.ts";
import { Picker } from "../ui/forms/picker.tsx";

/** The batch sizes of one placement: which to take, how many are safe, and the plot. */
function SweepFigure({ client, id }: { client: Client; id: string }) {
  const { value, error } = useResource(
    useCallback(
      (signal: AbortSignal) => client.call(plotEndpoints.getPlacementSweep, { params: { id }, signal }),
      [client, id],
    ),
  );
  return (
    <>
      {value === null ? (
        <p class="muted">{error === null ? "Reading batch sizes …" : `They could not be read: ${error.message}`}</p>
      ) : (
        <SweepFacts sweep={value} />
      )}
      <SvgPlot client={client} endpoint={plotEndpoints.plotSweep} id={id} />
    </>
  );
}

function SweepFacts({ sweep: { recommended, knee, memory, safe } }: { sweep: PlacementSweep }) {
  return (
    <dl class="facts">
      <Fact name="Recommended batch">
        {recommended.rows ?? "none"}
        <small>{recommended.detail}</small>
      </Fact>
      <Fact name="Knee">{knee ?? "none: it gains as far as it was measured"}</Fact>
      <Fact name="Memory">
        {memory === null
          ? "not known"
          : `${formatBytes(memory.baseBytes)}, and ${formatBytes(memory.bytesPerRow)} a row`}
      </Fact>
      <Fact name="Largest safe batch">{safe === null ? "not known" : describeSafe(safe)}</Fact>
    </dl>
  );
}

function describeSafe({ rows, budgetBytes, of, measured }: NonNullable<PlacementSweep["safe"]>): string {
  const whose = of === "asked" ? "asked for" : `the safe share of the ${of}'s memory`;
  return `${rows} within ${formatBytes(budgetBytes)}, ${whose}${measured ? "" : "; so many were never run"}`;
}

/** Jobs send events often; only calibrations change this panel. */
const TRADE_GAP_MS = 2_000;

interface TradePanelProps {
  readonly client: Client;
  readonly subscribe: Subscribe;
}

/** Gains and losses of a model's variants, and the batch sizes of one of them; empty without an uploaded model. */
export function TradePanel({ client, subscribe }: TradePanelProps) {
  const models = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        (await client.call(modelEndpoints.listModels, { signal })).items.map(({ name }) => name),
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
            <Picker label="Model" value={model} options={plainOptions(names)} onPick={setPicked} />
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
      (signal: AbortSignal): Promise<Trade> => client.call(plotEndpoints.getModelTrade, { params: { model }, signal }),
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
