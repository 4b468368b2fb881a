import type uPlot from "uplot";
import { DRAWN_PERCENTILES } from "../drawn-percentiles.ts";
import { drawMarks } from "../draw-marks.ts";
import { formatNumber } from "../format.ts";
import type { PlotMarks } from "../plot-marks.ts";
import { BAND_ALPHA, rangeWithNothing, timeAxis } from "../plot-options.ts";
import { readPlotTheme } from "../plot-theme.ts";
import { drawBand } from "./draw-band.ts";
import type { TimeSpan } from "./time-span.ts";

interface EveryPointLook {
  readonly metric: string;
  readonly unit: string;
  readonly readSpan: () => TimeSpan;
  readonly readMarks: () => PlotMarks;
  /** Whether two entries that are drawn are one bucket of points. */
  readonly readPaired: () => boolean;
  /** Hears the instant of the point under the cursor, in seconds. */
  readonly onHover: (atS: number | null) => void;
  readonly onReady: (plot: uPlot) => void;
}

/**
 * uPlot's options for all points: the median within the band up to the 99th percentile. Lines are plain: what a dash
 * costs grows with its line, and these are drawn anew in every frame of a move.
 */
export function everyPointOptions(element: HTMLElement, look: EveryPointLook): uPlot.Options {
  const { metric, unit, readSpan, readMarks, readPaired, onHover, onReady } = look;
  const { colour, axis, namedAxis, frame } = readPlotTheme(element);
  return {
    ...frame,
    scales: {
      x: { time: true, range: () => [...readSpan()] as [number, number] },
      y: { range: (_, lowest, highest) => rangeWithNothing(lowest, highest) },
    },
    axes: [
      { ...axis, ...timeAxis },
      {
        ...namedAxis(`${metric} (${unit})`, 52),
        values: (_, splits) => splits.map(formatNumber),
      },
    ],
    series: [
      {},
      ...DRAWN_PERCENTILES.map((name): uPlot.Series => {
        return { label: name, stroke: colour(name), width: name === "p50" ? 1.5 : 1, points: { show: false } };
      }),
    ],
    hooks: {
      ready: [onReady],
      drawClear: [
        (self) => drawBand(self, [DRAWN_PERCENTILES.length, 1], `${colour("p50")}${BAND_ALPHA}`, readPaired()),
      ],
      draw: [(self) => drawMarks(self, readMarks())],
      setCursor: [(self) => onHover(self.data[0][self.cursor.idx ?? -1] ?? null)],
    },
  };
}
