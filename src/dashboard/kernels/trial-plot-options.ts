import uPlot from "uplot";
import { formatNumber } from "../format.ts";
import { logRange } from "../log-range.ts";
import { readPlotTheme } from "../plot-theme.ts";
import type { TimedTrial } from "./timed-trials.ts";

/** Drawn in this order, so that what matters lies on top. Marks differ by size and filling as well as by colour. */
export const TRIAL_MARKS = ["too-slow", "timed", "default", "best"] as const satisfies readonly TimedTrial["mark"][];

const STYLES: Record<TimedTrial["mark"], { colour: string; size: number; filled: boolean }> = {
  "too-slow": { colour: "muted", size: 6, filled: false },
  timed: { colour: "p50", size: 6, filled: true },
  default: { colour: "p95", size: 12, filled: false },
  best: { colour: "p99", size: 11, filled: true },
};

/** uPlot's options for one column a mark, over the place of a trial among the others. */
export function trialPlotOptions(element: HTMLElement, onHover: (index: number | null) => void): uPlot.Options {
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
