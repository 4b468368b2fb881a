import { useCallback, useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { readPlotTheme } from "../plots/plot-theme.ts";
import { usePlot } from "../plots/use-plot.ts";
import { type LiveQuantity, SHOWN_S } from "./live-quantities.ts";

/** Colour and dash of each line; of more lines the first begin again. The style sheet has them for the legend. */
const STYLES = [
  ["p50", []],
  ["p95", [6, 3]],
  ["p99", [2, 3]],
  ["good", [10, 3, 2, 3]],
  ["muted", [4, 2]],
] as const;

/** Charts with fewer points mark each of them. */
const MARKED_POINTS = 4;

/** The style of a line by its place. */
export function lineStyleOf(index: number): number {
  return index % STYLES.length;
}

interface LiveChartProps {
  readonly quantity: LiveQuantity;
  /** Seconds before the latest report, rising to 0. */
  readonly timesS: readonly number[];
}

/** Lines over the last while; the latest report stands at the right end. */
export function LiveChart({ quantity: { name, format, most, lines }, timesS }: LiveChartProps) {
  const count = lines.length;
  const data = useMemo(
    (): uPlot.AlignedData => [[...timesS], ...lines.map(({ values }) => [...values])],
    [timesS, lines],
  );
  const createOptions = useCallback(
    (element: HTMLElement) => chartOptions(element, { format, most, count }),
    [format, most, count],
  );
  const frame = usePlot(createOptions, data);
  return <div ref={frame} class="plot-frame" role="img" aria-label={`${name} over the last ${SHOWN_S} s`} />;
}

function chartOptions(
  element: HTMLElement,
  { format, most, count }: Pick<LiveQuantity, "format" | "most"> & { readonly count: number },
): uPlot.Options {
  const { colour, axis, frame } = readPlotTheme(element);
  return {
    ...frame,
    cursor: { show: false },
    scales: {
      x: { time: false, range: () => [-SHOWN_S, 0] },
      y: { range: (_, _min, max) => [0, most ?? ((max ?? 0) > 0 ? (max ?? 0) * 1.15 : 1)] },
    },
    axes: [
      { ...axis, size: 28, values: (_, splits) => splits.map((split) => (split === 0 ? "now" : `${split} s`)) },
      { ...axis, size: 74, values: (_, splits) => splits.map(format) },
    ],
    series: [
      {},
      ...Array.from({ length: count }, (_, index): uPlot.Series => {
        const [name, dash] = STYLES[lineStyleOf(index)]!;
        const stroke = colour(name);
        // A report or two make no line.
        const points: uPlot.Series.Points = {
          show: (self) => self.data[0].length < MARKED_POINTS,
          size: 5,
          fill: stroke,
        };
        return { stroke, width: 1.75, dash: [...dash], points };
      }),
    ],
  };
}
