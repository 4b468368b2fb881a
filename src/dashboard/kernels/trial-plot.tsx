import { useCallback, useMemo, useState } from "preact/hooks";
import type uPlot from "uplot";
import type { StoredTuning, StoredTuningRecord } from "../../protocol/tuning.ts";
import { describeSizes, formatMeasure } from "../format.ts";
import { listTimedTrials, type TimedTrial } from "./timed-trials.ts";
import { TRIAL_MARKS, trialPlotOptions } from "./trial-plot-options.ts";
import { usePlot } from "../use-plot.ts";

const NAMES: Record<TimedTrial["mark"], string> = {
  best: "best",
  default: "default",
  timed: "timed",
  "too-slow": "given up after its check",
};

/** The timed candidates of a search by their time, with the best and the default marked. */
export function TrialPlot({ tuning, trials }: StoredTuningRecord) {
  const timed = useMemo(() => listTimedTrials(tuning, trials), [tuning, trials]);
  const [hovered, setHovered] = useState<number | null>(null);
  const data = useMemo(() => toColumns(timed), [timed]);
  const createOptions = useCallback((element: HTMLElement) => trialPlotOptions(element, setHovered), []);
  const frame = usePlot(createOptions, data);
  const shown = timed[hovered ?? -1] ?? timed.find(({ mark }) => mark === "best");
  return (
    <>
      <div class="readout">
        {shown !== undefined && (
          <span>
            <b>{formatMeasure(shown.ms, "ms")}</b> {shown.trial.variant} {describeSizes(shown.trial.axes)}{" "}
            <span class="muted">{NAMES[shown.mark]}</span>
          </span>
        )}
      </div>
      <div class="plot">
        <div ref={frame} class="plot-frame" role="img" aria-label={describe(tuning, timed)} />
      </div>
    </>
  );
}

function toColumns(timed: readonly TimedTrial[]): uPlot.AlignedData {
  const places = timed.map((_, index) => index + 1);
  return [places, ...TRIAL_MARKS.map((wanted) => timed.map(({ mark, ms }) => (mark === wanted ? ms : null)))];
}

function describe({ kernel, best, untuned }: StoredTuning, timed: readonly TimedTrial[]): string {
  const compared = untuned === null ? "" : `, the default ${formatMeasure(untuned.ms.p50, "ms")}`;
  return `Times of ${timed.length} candidates of ${kernel}; the best ${formatMeasure(best.ms.p50, "ms")}${compared}`;
}
