import type uPlot from "uplot";
import { formatNumber } from "../format.ts";
import { logRange } from "../log-range.ts";
import { readPlotTheme } from "../plot-theme.ts";

/** uPlot's options for p50 and p99 over the rows of a batch, with the band between them; both axes are logarithmic. */
export function calibrationOptions(element: HTMLElement, onHover: (index: number | null) => void): uPlot.Options {
  const { colour, namedAxis, frame } = readPlotTheme(element);
  const line = (label: string, dash: number[]): uPlot.Series => {
    const stroke = colour(label);
    return { label, stroke, width: 1.75, dash, points: { show: true, size: 5, stroke, fill: stroke } };
  };
  const values: uPlot.Axis.DynamicValues = (_, splits) =>
    splits.map((split) => (split === null ? "" : formatNumber(split)));
  return {
    ...frame,
    scales: {
      // Batches double: each has its own place.
      x: { time: false, distr: 3, log: 2, range: (_, min, max) => [(min ?? 1) / 1.2, (max ?? 1) * 1.2] },
      y: { distr: 3, range: (_, min, max) => logRange(min, max) },
    },
    axes: [
      {
        ...namedAxis("rows of a batch", 26),
        splits: (self) => [...(self.data[0] ?? [])],
        values,
      },
      { ...namedAxis("service (ms)", 52), values },
    ],
    series: [{}, line("p50", []), line("p99", [2, 3])],
    bands: [{ series: [2, 1], fill: `color-mix(in srgb, ${colour("p50")} 18%, transparent)` }],
    hooks: { setCursor: [(self) => onHover(self.cursor.idx ?? null)] },
  };
}
