import type uPlot from "uplot";
import { formatNumber } from "../../words/numbers.ts";
import { readPlotTheme } from "../plots/plot-theme.ts";

/** Places of the series whose space between is the interval. */
const LOW = 3;
const HIGH = 4;
/** Between two ticks there is no half a generation. */
const WHOLE = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();
/** Alpha channel of a band's colour, as two hexadecimal digits. */
const BAND_ALPHA = "30";

/** uPlot's options for mean, best, the interval's ends and fresh returns, over generations or steps. */
export function learningOptions(
  element: HTMLElement,
  { along, target }: { readonly along: string; readonly target: number | undefined },
  onHover: (index: number | null) => void,
): uPlot.Options {
  const { colour, namedAxis, frame } = readPlotTheme(element);
  const edge: uPlot.Series = { stroke: "transparent", spanGaps: true, points: { show: false } };
  const values = (_: uPlot, splits: number[]) => splits.map(formatNumber);
  const fresh = colour("p50");
  return {
    ...frame,
    scales: { x: { time: false }, y: { range: (_, low, high) => rangeOf([low, high, target ?? high]) } },
    axes: [
      { ...namedAxis(along, 26), values, incrs: WHOLE },
      { ...namedAxis("return", 52), values },
    ],
    bands: [{ series: [HIGH, LOW], fill: `${fresh}${BAND_ALPHA}` }],
    series: [
      {},
      { label: "mean", stroke: colour("p99"), width: 1.5, dash: [2, 3], points: { show: false } },
      { label: "best", stroke: colour("p95"), width: 1.5, dash: [6, 3], points: { show: false } },
      edge,
      edge,
      {
        label: "fresh",
        stroke: fresh,
        width: 2,
        spanGaps: true,
        points: { show: true, size: 5, stroke: fresh, fill: fresh },
      },
    ],
    hooks: {
      draw: [
        (self) => drawEnds(self, fresh),
        (self) => (target === undefined ? undefined : drawTarget(self, target, colour("good"))),
      ],
      setCursor: [(self) => onHover(self.cursor.idx ?? null)],
    },
  };
}

/** A little more than all values; one value alone has room around it. */
function rangeOf(values: readonly (number | null)[]): [number, number] {
  const known = values.filter((value) => value !== null && Number.isFinite(value)) as number[];
  if (known.length === 0) return [0, 1];
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const room = 0.06 * (high - low) || 0.5;
  return [low - room, high + room];
}

/** The interval of each judgement as an upright line: a band has no width where there is one alone. */
function drawEnds(plot: uPlot, stroke: string): void {
  const [places, , , lows, highs] = plot.data;
  const { ctx } = plot;
  ctx.save();
  ctx.strokeStyle = stroke;
  ctx.lineWidth = devicePixelRatio;
  for (const [index, place] of places.entries()) {
    const [low, high] = [lows?.[index], highs?.[index]];
    if (low == null || high == null) continue;
    const x = plot.valToPos(place, "x", true);
    ctx.beginPath();
    ctx.moveTo(x, plot.valToPos(low, "y", true));
    ctx.lineTo(x, plot.valToPos(high, "y", true));
    ctx.stroke();
  }
  ctx.restore();
}

function drawTarget(plot: uPlot, target: number, stroke: string): void {
  const { ctx, bbox } = plot;
  const y = plot.valToPos(target, "y", true);
  ctx.save();
  ctx.strokeStyle = stroke;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}
