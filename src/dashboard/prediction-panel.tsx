import { useState } from "preact/hooks";
import type { CalibratedPrediction, PredictionCalibration } from "../protocol/prediction-calibration.ts";
import { formatShare } from "./format.ts";
import { Panel } from "./panel.tsx";
import { PredictionPlot } from "./prediction-plot.tsx";
import type { Resource } from "./use-resource.ts";

/** Of the requests that were predicted to be in time, how many were; nothing where there were none. */
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
            <label>
              Placement
              <select value={shown && nameOf(shown)} onChange={({ currentTarget: { value } }) => setPicked(value)}>
                {items.map((item) => (
                  <option key={nameOf(item)}>{nameOf(item)}</option>
                ))}
              </select>
            </label>
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
