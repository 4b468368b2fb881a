import { plotEndpoints } from "../../protocol/models/plot-endpoints.ts";
import { modelEndpoints } from "../../protocol/models/model-endpoints.ts";
import { useCallback } from "preact/hooks";
import type { Model } from "../../protocol/models/model.ts";
import { EmptyState, FactList, Panel } from "../ui/panels.tsx";
import { describeVersion, listUnmeasured } from "../../words/models.ts";
import { PAGE_NUMBERS } from "../../words/numbers.ts";
import { LatencyTable, VariantTable } from "./model-tables.tsx";
import { CalibrationFigure } from "./calibration-figure.tsx";
import { nextCommands } from "../ui/next-commands.ts";
import { SvgPlot } from "../plots/svg-plot.tsx";
import { useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import type { ViewProps } from "../ui/view-props.ts";

/** Jobs send events often; only calibrations change this panel. */
const PLACEMENT_GAP_MS = 2_000;

interface ModelPanelProps extends ViewProps {
  readonly model: Model;
}

/** The latest version of a model: its graph, its variants, what they trade, and how fast each is where. */
export function ModelPanel({ client, subscribe, address, onPick, model: { name, versions } }: ModelPanelProps) {
  const placements = useResource(
    useCallback(
      (signal: AbortSignal) => client.call(modelEndpoints.listPlacements, { params: { model: name }, signal }),
      [client, name],
    ),
    PLACEMENT_GAP_MS,
  );
  useRefreshOn(subscribe, "job", placements.refresh);
  const latest = versions.at(-1);
  if (latest === undefined) return null;
  const { version, summary, variants } = latest;
  const ofLatest = ({ modelVersionId }: { readonly modelVersionId: string }) => modelVersionId === latest.id;
  const placed = placements.value?.items.filter(ofLatest);
  const unmeasured = listUnmeasured(placements.value?.calibrations.filter(ofLatest) ?? []);
  return (
    <Panel
      id="model"
      title={name}
      aside={<span class="muted">{`version ${version} of ${versions.length}`}</span>}
      resource={placements}
    >
      <dl class="facts">
        <FactList facts={describeVersion(latest, PAGE_NUMBERS)} />
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
            endpoint={plotEndpoints.plotTrade}
            id={name}
            of="model"
            version={version}
            moment={placed.map(({ updatedAt }) => updatedAt).join()}
          />
        </>
      )}
      <h3 class="part">Latency of one row, by device</h3>
      {placed === undefined && placements.error === null && <p class="muted loading">Reading placements …</p>}
      {placed?.length === 0 && unmeasured.length === 0 && (
        <EmptyState says="No runner has measured it yet." command={nextCommands.registerRunner}>
          A runner measures every model as it connects:
        </EmptyState>
      )}
      {unmeasured.map(({ runnerId, subject, reason, isBad }) => (
        <p key={`${runnerId} ${subject}`} class={isBad ? "bad" : "muted"}>
          {`Not measured: ${subject} (${runnerId}): ${reason}`}
        </p>
      ))}
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
