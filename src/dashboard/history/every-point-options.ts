import type uPlot from "uplot";
import { formatNumber } from "../../words/numbers.ts";
import { drawMarks } from "../plots/draw-marks.ts";
import { DRAWN_PERCENTILES, type PlotMarks } from "../plots/plot-marks.ts";
import { BAND_ALPHA, rangeWithNothing, timeAxis } from "../plots/plot-options.ts";
import { readPlotTheme } from "../plots/plot-theme.ts";
import type { TimeSpan } from "./time-span.ts";

/**
 * Fills what lies between two series of a plot as one shape. uPlot's own bands clip by their lines, which takes ten times
 * as long where these go up and down in every pixel. Where two entries are one bucket (`paired`) the shape goes by the
 * outer of their values, so that it never turns back on itself.
 */
function drawBand(plot: uPlot, [upper, lower]: readonly [number, number], fill: string, paired: boolean): void {
  const { ctx, bbox, data, scales } = plot;
  const [times, highs, lows] = [data[0], data[upper]!, data[lower]!];
  const { min: fromS = 0, max: toS = 1 } = scales["x"] ?? {};
  const { min: low = 0, max: high = 1 } = scales["y"] ?? {};
  const [perS, per] = [bbox.width / (toS - fromS), bbox.height / (high - low)];
  const x = (place: number) => bbox.left + (times[place]! - fromS) * perS;
  const y = (value: number) => bbox.top + bbox.height - (value - low) * per;
  const other = (place: number) => (paired ? place ^ 1 : place);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.beginPath();
  for (let place = 0; place < times.length; place++) {
    ctx.lineTo(x(place), y(Math.max(highs[place]!, highs[other(place)] ?? highs[place]!)));
  }
  for (let place = times.length - 1; place >= 0; place--) {
    ctx.lineTo(x(place), y(Math.min(lows[place]!, lows[other(place)] ?? lows[place]!)));
  }
  ctx.fillStyle = fill;
  ctx.fill();
  ctx.restore();
}

interface EveryPointLook {
  readonly metric: string;
  readonly unit: string;
  readonly readSpan: () => TimeSpan;
  readonly readMarks: () => PlotMarks;
  /** Whether two drawn entries make up one bucket of points. */
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
