import { useCallback, useMemo } from "preact/hooks";
import type uPlot from "uplot";
import type { HistoryPoint } from "../protocol/history.ts";
import type { Series } from "../protocol/series.ts";
import { DRAWN_PERCENTILES } from "./drawn-percentiles.ts";
import { formatMeasure } from "./format.ts";
import { plotOptions } from "./plot-options.ts";
import { usePlot } from "./use-plot.ts";

interface PlotCanvasProps {
  readonly series: Series;
  readonly points: readonly HistoryPoint[];
  readonly onHover: (index: number | null) => void;
}

/** Percentiles over time. */
export function PlotCanvas({ series, points, onHover }: PlotCanvasProps) {
  const { metric, unit } = series;
  const data = useMemo(() => toColumns(points), [points]);
  const createOptions = useCallback(
    (element: HTMLElement) => plotOptions(element, { metric, unit }, onHover),
    [metric, unit, onHover],
  );
  const frame = usePlot(createOptions, data);
  return <div ref={frame} class="plot-frame" role="img" aria-label={describe(series, points)} />;
}

function toColumns(points: readonly HistoryPoint[]): uPlot.AlignedData {
  const times = points.map(({ at }) => Date.parse(at) / 1_000);
  const lines = DRAWN_PERCENTILES.map((percentile) => points.map(({ percentiles }) => percentiles[percentile] ?? null));
  return [times, ...lines];
}

function describe({ subject, metric, unit }: Series, points: readonly HistoryPoint[]): string {
  const latest = points.at(-1);
  const values = DRAWN_PERCENTILES.map(
    (percentile) => `${percentile} ${formatMeasure(latest?.percentiles[percentile] ?? Number.NaN, unit)}`,
  );
  return `${metric} of ${subject} over time, ${points.length} ${points.length === 1 ? "point" : "points"}; the latest: ${values.join(", ")}`;
}
