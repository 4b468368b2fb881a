import { useCallback, useMemo, useState } from "preact/hooks";
import type uPlot from "uplot";
import type { CalibratedPrediction, PredictionCalibration } from "../../protocol/history/prediction-calibration.ts";
import { formatShare } from "../../words/numbers.ts";
import type { Resource } from "../ui/hooks/use-resource.ts";
import { Panel } from "../ui/panels.tsx";
import { timeAxis, timeScale } from "./plot-options.ts";
import { readPlotTheme } from "./plot-theme.ts";
import { usePlot } from "./use-plot.ts";
import { plainOptions } from "../../words/form-fields.ts";
import { Picker } from "../ui/forms/picker.tsx";

interface PredictionPlotProps {
  readonly item: CalibratedPrediction;
  readonly label: string;
  readonly onHover: (index: number | null) => void;
}

/** Shares of requests over time, with the confidence that was asked for as a line across. */
function PredictionPlot({ item, label, onHover }: PredictionPlotProps) {
  const data = useMemo(() => toColumns(item), [item]);
  const createOptions = useCallback((element: HTMLElement) => predictionOptions(element, onHover), [onHover]);
  const frame = usePlot(createOptions, data);
  return <div ref={frame} class="plot-frame" role="img" aria-label={label} />;
}

function toColumns({ steps, confidence }: CalibratedPrediction): uPlot.AlignedData {
  return [
    steps.map(({ at }) => Date.parse(at) / 1_000),
    steps.map(({ inTime, requests }) => inTime / requests),
    steps.map(({ asPredicted, requests }) => asPredicted / requests),
    steps.map(() => confidence),
  ];
}

/** From the worst share, but from 97 % at least, so that noise in good ones stays small. */
function predictionOptions(element: HTMLElement, onHover: (index: number | null) => void): uPlot.Options {
  const { colour, axis, namedAxis, frame } = readPlotTheme(element);
  const line = (name: string, dash: number[], size: number): uPlot.Series => {
    const stroke = colour(name);
    return { stroke, width: 1.75, dash, points: { show: size > 0, size, stroke, fill: stroke } };
  };
  return {
    ...frame,
    scales: { x: timeScale, y: { range: (_, min) => [Math.min(min ?? 1, 0.98) - 0.01, 1.005] } },
    axes: [
      { ...axis, ...timeAxis },
      {
        ...namedAxis("share of requests", 56),
        values: (_, splits) => splits.map((split) => (split > 1 ? "" : formatShare(split))),
      },
    ],
    series: [{}, line("p50", [], 5), line("p95", [6, 3], 5), line("p99", [2, 3], 0)],
    hooks: { setCursor: [(self) => onHover(self.cursor.idx ?? null)] },
  };
}

/** Share of the requests predicted to be in time that were; empty if there were none. */
export function PredictionPanel({ predictions }: { predictions: Resource<PredictionCalibration> }) {
  const items = predictions.value?.items ?? [];
  const [picked, setPicked] = useState<string | null>(null);
  const shown = items.find((item) => nameOf(item) === picked) ?? items[0];
  if (shown === undefined && predictions.error === null) return null;
  return (
    <Panel
      id="predictions"
      title="Predictions held"
      resource={predictions}
      aside={
        items.length > 1 && (
          <div class="picker">
            <Picker
              label="Placement"
              value={shown && nameOf(shown)}
              options={plainOptions(items.map(nameOf))}
              onPick={setPicked}
            />
          </div>
        )
      }
    >
      {shown !== undefined && <Prediction key={nameOf(shown)} item={shown} />}
      {predictions.value?.truncated === true && <p class="muted">Only the latest steps are shown.</p>}
    </Panel>
  );
}

function Prediction({ item }: { item: CalibratedPrediction }) {
  const [hovered, setHovered] = useState<number | null>(null);
  const { requests, inTime, asPredicted } = item.steps[hovered ?? -1] ?? item;
  return (
    <figure>
      <div class="readout">
        <span>
          <i class="swatch" /> within the budget <b>{formatShare(inTime / requests)}</b>
        </span>
        <span>
          <i class="swatch p95" /> within the prediction <b>{formatShare(asPredicted / requests)}</b>
        </span>
        <span>
          <i class="swatch p99" /> asked for <b>{formatShare(item.confidence)}</b>
        </span>
        <span class="muted">{`${requests} requests ${hovered === null ? "in 24 h" : "in 5 min"}`}</span>
      </div>
      <div class="plot low">
        <PredictionPlot item={item} label={describe(item)} onHover={setHovered} />
      </div>
    </figure>
  );
}

function nameOf({ model, variant, backend, confidence, placementId }: CalibratedPrediction): string {
  return `${model} · ${variant} · ${backend} · ${formatShare(confidence)} · ${placementId.slice(-6)}`;
}

function describe(item: CalibratedPrediction): string {
  const { confidence, requests, inTime, asPredicted } = item;
  const shares = `${formatShare(inTime / requests)} within the budget, ${formatShare(asPredicted / requests)} within the prediction`;
  return `Predictions of ${nameOf(item)} over a day: of ${requests} requests ${shares}; asked for ${formatShare(confidence)}`;
}
