import type uPlot from "uplot";
import { DRAWN_PERCENTILES, type PlotMarks } from "./plot-marks.ts";
import { drawMarks } from "./draw-marks.ts";
import { formatNumber } from "../../words/numbers.ts";
import { readPlotTheme } from "./plot-theme.ts";

/** Shortest stretch of time that is drawn, in seconds: one point alone would have none. */
const SHORTEST_SPAN_S = 60;
/** Room that a time of day with seconds and AM or PM wants. */
const TIME_LABEL_PX = 96;
/** Up to this many points each is marked, so that few do not vanish into a line. */
const MARKED_POINTS = 60;

/** Alpha channel of the band's colour, as two hexadecimal digits. */
export const BAND_ALPHA = "26";

const DASHES: Record<(typeof DRAWN_PERCENTILES)[number], number[]> = { p50: [], p95: [6, 3], p99: [2, 3] };

/** uPlot's options in the page's colours; lines differ by dash as well as by colour. `readMarks` is asked at each drawing. */
export function plotOptions(
  element: HTMLElement,
  { metric, unit }: { metric: string; unit: string },
  onHover: (index: number | null) => void,
  readMarks: () => PlotMarks,
): uPlot.Options {
  const { colour, axis, namedAxis, frame } = readPlotTheme(element);
  return {
    ...frame,
    scales: {
      x: {
        time: true,
        range: (self) => spanOf([...self.data[0], ...timesOf(readMarks())].toSorted((a, b) => a - b)),
      },
      y: { range: (_, min, max) => rangeOf(min, max, readMarks()) },
    },
    axes: [
      { ...axis, ...timeAxis },
      {
        ...namedAxis(`${metric} (${unit})`, 52),
        values: (_, splits) => splits.map(formatNumber),
      },
    ],
    // From the median to the highest percentile.
    bands: [{ series: [DRAWN_PERCENTILES.length, 1], fill: `${colour("p50")}${BAND_ALPHA}` }],
    series: [
      {},
      ...DRAWN_PERCENTILES.map((name): uPlot.Series => {
        const stroke = colour(name);
        return {
          label: name,
          stroke,
          width: 1.75,
          dash: DASHES[name],
          points: { show: (self) => (self.data[0]?.length ?? 0) <= MARKED_POINTS, size: 5, stroke, fill: stroke },
        };
      }),
    ],
    hooks: {
      draw: [(self) => drawMarks(self, readMarks())],
      setCursor: [(self) => onHover(self.cursor.idx ?? null)],
    },
  };
}

/** A merged point stands where its step begins, and what it marks may lie behind. */
function timesOf({ changes, spikes, hardware }: PlotMarks): number[] {
  return [...changes, ...spikes, ...hardware].map(({ atS }) => atS);
}

function rangeOf(min: number, max: number, { levels, spikes }: PlotMarks): [number, number] {
  const marked = [...levels.map(({ to }) => to), ...spikes.map(({ value }) => value)];
  return rangeWithNothing(Math.min(min, ...marked), Math.max(max, ...marked));
}

/** From nothing to a little beyond all that is drawn, upwards and, where something lies there, downwards. */
export function rangeWithNothing(lowest: number, highest: number): [number, number] {
  const low = Math.min(0, lowest * 1.15);
  return [low, highest > 0 ? highest * 1.15 : low < 0 ? 0 : 1];
}

/** Time along the plot, in seconds. */
export const timeScale: uPlot.Scale = { time: true, range: (self) => spanOf(self.data[0]) };
export const timeAxis: uPlot.Axis = {
  space: TIME_LABEL_PX,
  values: (_, splits, _axis, _space, stepS) => nameInstants(splits, stepS),
};

const timeOfDay = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const timeWithSeconds = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const dayOfYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

/** Local times in the reader's own notation, with the day beneath wherever it is another one. */
function nameInstants(splits: readonly number[], stepS: number): string[] {
  let day = "";
  return splits.map((split) => {
    const instant = new Date(split * 1_000);
    const before = day;
    day = dayOfYear.format(instant);
    if (stepS >= 86_400) return day;
    const time = (stepS < 60 ? timeWithSeconds : timeOfDay).format(instant);
    return day === before ? time : `${time}\n${day}`;
  });
}

/** From the first instant to the last; uPlot's own range gives a single point years. */
function spanOf(times: ArrayLike<number>): [number, number] {
  const first = times[0] ?? 0;
  const last = times[times.length - 1] ?? first;
  const missing = Math.max(0, SHORTEST_SPAN_S - (last - first)) / 2;
  return [first - missing, last + missing];
}
