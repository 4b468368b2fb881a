import { useCallback } from "preact/hooks";
import { endpoints } from "../../protocol/endpoints.ts";
import type { Model, ModelSummary } from "../../protocol/models/model.ts";
import { EmptyState, Fact, Panel } from "../ui/panels.tsx";
import { describeTensors } from "../../words/models.ts";
import { formatBytes, formatNumber } from "../../words/numbers.ts";
import { LatencyTable, VariantTable } from "./model-tables.tsx";
import { CalibrationFigure } from "./calibration-figure.tsx";
import { nextCommands } from "../ui/next-commands.ts";
import { SvgPlot } from "../plots/svg-plot.tsx";
import { useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import type { ViewProps } from "../ui/view-props.ts";

/** Jobs tell of themselves often; only calibrations change what is shown here. */
const PLACEMENT_GAP_MS = 2_000;

interface ModelPanelProps extends ViewProps {
  readonly model: Model;
}

/** The latest version of a model: its graph, its variants, what they trade, and how fast each is where. */
export function ModelPanel({ client, subscribe, address, onPick, model: { name, versions } }: ModelPanelProps) {
  const placements = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        (await client.call(endpoints.listPlacements, { params: { model: name }, signal })).items,
      [client, name],
    ),
    PLACEMENT_GAP_MS,
  );
  useRefreshOn(subscribe, "job", placements.refresh);
  const latest = versions.at(-1);
  if (latest === undefined) return null;
  const { version, inputs, outputs, summary, variants } = latest;
  const placed = placements.value?.filter(({ modelVersionId }) => modelVersionId === latest.id);
  return (
    <Panel
      id="model"
      title={name}
      aside={<span class="muted">{`version ${version} of ${versions.length}`}</span>}
      resource={placements}
    >
      <dl class="facts">
        <Fact name="Takes">{describeTensors(inputs)}</Fact>
        <Fact name="Gives">{describeTensors(outputs)}</Fact>
        {summary !== null && <SummaryFacts summary={summary} />}
      </dl>
      {summary === null && <p class="muted">Its graph has not been counted yet, or cannot be.</p>}
      <h3 class="part">Variants</h3>
      <VariantTable variants={variants} placements={placed ?? []} />
      {variants.length === 1 && (
        <EmptyState says="It has no smaller variant yet." command={nextCommands.createVariant(name)}>
          A runner makes one, measures how good it is, and offers it to requests that have less time:
        </EmptyState>
      )}
      {placed?.some(({ state, fidelity }) => state === "eligible" && fidelity !== null) === true && (
        <>
          <h3 class="part">Latency against fidelity</h3>
          <SvgPlot
            client={client}
            endpoint={endpoints.plotTrade}
            id={name}
            of="model"
            version={version}
            moment={placed.map(({ updatedAt }) => updatedAt).join()}
          />
        </>
      )}
      <h3 class="part">Latency of one row, by device</h3>
      {placed === undefined && placements.error === null && <p class="muted loading">Reading placements …</p>}
      {placed?.length === 0 && (
        <EmptyState says="No runner has measured it yet." command={nextCommands.registerRunner}>
          A runner measures every model as it connects:
        </EmptyState>
      )}
      {placed !== undefined && placed.length > 0 && (
        <>
          <LatencyTable placements={placed} />
          <h3 class="part">Calibration: service by rows of a batch</h3>
          <CalibrationFigure
            placements={placed}
            picked={address.part}
            onPick={(part) => onPick({ model: name, part })}
          />
        </>
      )}
    </Panel>
  );
}

function SummaryFacts({ summary }: { readonly summary: ModelSummary }) {
  const { opset, nodes, operators, parameters, quantisedParameters, weightBytes } = summary;
  const { multiplyAddsPerRow, flopsPerRow, activationBytesPerRow } = summary;
  return (
    <>
      <Fact name="Parameters">
        {formatNumber(parameters)}
        {quantisedParameters > 0 && ` (${formatNumber(quantisedParameters)} quantised)`}
      </Fact>
      <Fact name="Weights">{formatBytes(weightBytes)}</Fact>
      <Fact name="Multiply-adds a row">{orUnknown(multiplyAddsPerRow, formatNumber)}</Fact>
      <Fact name="Flops a row">{orUnknown(flopsPerRow, formatNumber)}</Fact>
      <Fact name="Activations a row">{orUnknown(activationBytesPerRow, formatBytes)}</Fact>
      <Fact name="Opset">{opset}</Fact>
      <Fact name={`Operators (${nodes} nodes)`}>{describeOperators(operators)}</Fact>
    </>
  );
}

function orUnknown(value: number | null, format: (value: number) => string): string {
  return value === null ? "the file does not say" : format(value);
}

/** The most frequent first. */
function describeOperators(operators: Readonly<Record<string, number>>): string {
  return Object.entries(operators)
    .toSorted(([, a], [, b]) => b - a)
    .map(([operator, count]) => `${count} ${operator}`)
    .join(", ");
}
