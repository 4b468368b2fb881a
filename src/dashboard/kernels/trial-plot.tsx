import { useCallback, useMemo, useState } from "preact/hooks";
import uPlot from "uplot";
import type { StoredTuning, StoredTuningRecord } from "../../protocol/jobs/tuning.ts";
import { describeSizes, formatMeasure, formatNumber } from "../../words/numbers.ts";
import { logRange } from "../plots/plot-data.ts";
import { readPlotTheme } from "../plots/plot-theme.ts";
import { usePlot } from "../plots/use-plot.ts";
import { listTimedTrials, type TimedTrial } from "./trials.ts";

/** Drawn in this order, so that what matters lies on top. Marks differ by size and filling as well as by colour. */
const TRIAL_MARKS = ["too-slow", "timed", "default", "best"] as const satisfies readonly TimedTrial["mark"][];

const STYLES: Record<TimedTrial["mark"], { colour: string; size: number; filled: boolean }> = {
  "too-slow": { colour: "muted", size: 6, filled: false },
  timed: { colour: "p50", size: 6, filled: true },
  default: { colour: "p95", size: 12, filled: false },
  best: { colour: "p99", size: 11, filled: true },
};

/** uPlot's options for one column a mark, over the place of a trial among the others. */
function trialPlotOptions(element: HTMLElement, onHover: (index: number | null) => void): uPlot.Options {
  const { colour, font, namedAxis, frame } = readPlotTheme(element);
  return {
    ...frame,
    scales: {
      x: { time: false, range: (self) => [0.5, (self.data[0]?.length ?? 1) + 0.5] },
      y: { distr: 3, range: (_, min, max) => logRange(min, max) },
    },
    axes: [
      {
        ...namedAxis("candidates, the fastest first", 26),
        values: (_, splits) => splits.map((split) => (Number.isInteger(split) && split > 0 ? String(split) : "")),
      },
      {
        ...namedAxis("time (ms)", 52),
        values: (_, splits) => splits.map((split) => (split === null ? "" : formatNumber(split))),
      },
    ],
    series: [
      {},
      ...TRIAL_MARKS.map((mark): uPlot.Series => {
        const { colour: name, size, filled } = STYLES[mark];
        const stroke = colour(name);
        return {
          label: mark,
          stroke,
          paths: () => null,
          points: { show: true, size, width: 1.5, stroke, fill: filled ? stroke : colour("surface") },
        };
      }),
    ],
    hooks: {
      setCursor: [(self) => onHover(self.cursor.idx ?? null)],
      draw: [(self) => nameMarks(self, colour("text"), font)],
    },
  };
}

/** Writes beside the best and the default which they are. */
function nameMarks(plot: uPlot, colour: string, font: string): void {
  const { ctx } = plot;
  ctx.save();
  ctx.fillStyle = colour;
  ctx.font = font.replace("12px", `${12 * devicePixelRatio}px`);
  ctx.textBaseline = "middle";
  for (const mark of ["best", "default"] as const) {
    const values = plot.data[1 + TRIAL_MARKS.indexOf(mark)] ?? [];
    const index = values.findIndex((value) => value != null);
    const value = values[index];
    if (value == null) continue;
    const x = plot.valToPos(index + 1, "x", true) + 10 * devicePixelRatio;
    ctx.fillText(mark, x, plot.valToPos(value, "y", true) - 12 * devicePixelRatio);
  }
  ctx.restore();
}

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
