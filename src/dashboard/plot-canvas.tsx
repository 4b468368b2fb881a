import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { HistoryPoint, Series } from "../protocol/history.ts";
import { DRAWN_PERCENTILES } from "./drawn-percentiles.ts";
import { formatMeasure } from "./format.ts";
import { plotOptions } from "./plot-options.ts";
import { useColourScheme } from "./use-colour-scheme.ts";

interface PlotCanvasProps {
  readonly series: Series;
  readonly points: readonly HistoryPoint[];
  readonly onHover: (index: number | null) => void;
}

/** Percentiles over time, drawn by uPlot into the size that the page gives. */
export function PlotCanvas({ series, points, onHover }: PlotCanvasProps) {
  const scheme = useColourScheme();
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const data = toColumns(points);
  const { metric, unit } = series;

  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const drawn = new uPlot(plotOptions(element, { metric, unit }, onHover), data, element);
    plot.current = drawn;
    const observer = new ResizeObserver(() =>
      drawn.setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      drawn.destroy();
      plot.current = null;
    };
  }, [metric, unit, scheme, onHover]);

  useEffect(() => plot.current?.setData(data), [points]);

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
