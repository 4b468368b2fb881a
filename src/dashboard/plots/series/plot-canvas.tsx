import { useCallback, useMemo, useRef } from "preact/hooks";
import type uPlot from "uplot";
import type { HistoryPoint } from "../../../protocol/history/history.ts";
import type { Series } from "../../../protocol/history/series.ts";
import { DRAWN_PERCENTILES, type PlotMarks } from "../plot-marks.ts";
import { formatMeasure } from "../../../words/numbers.ts";
import { plotOptions } from "../plot-options.ts";
import { usePlot } from "../use-plot.ts";

interface PlotCanvasProps {
  readonly series: Pick<Series, "subject" | "metric" | "unit">;
  readonly points: readonly HistoryPoint[];
  /** Read together with the points. */
  readonly marks: PlotMarks;
  readonly onHover: (index: number | null) => void;
}

/** Percentiles over time, with what happened to them. */
export function PlotCanvas({ series, points, marks, onHover }: PlotCanvasProps) {
  const { metric, unit } = series;
  const data = useMemo(() => toColumns(points), [points]);
  const drawn = useRef(marks);
  drawn.current = marks;
  const createOptions = useCallback(
    (element: HTMLElement) => plotOptions(element, { metric, unit }, onHover, () => drawn.current),
    [metric, unit, onHover],
  );
  const frame = usePlot(createOptions, data);
  return <div ref={frame} class="plot-frame" role="img" aria-label={describe(series, points, marks)} />;
}

function toColumns(points: readonly HistoryPoint[]): uPlot.AlignedData {
  const times = points.map(({ at }) => Date.parse(at) / 1_000);
  const lines = DRAWN_PERCENTILES.map((percentile) => points.map(({ percentiles }) => percentiles[percentile] ?? null));
  return [times, ...lines];
}

function describe(
  { subject, metric, unit }: PlotCanvasProps["series"],
  points: readonly HistoryPoint[],
  { changes, spikes, hardware }: PlotMarks,
): string {
  const latest = points.at(-1);
  const values = DRAWN_PERCENTILES.map(
    (percentile) => `${percentile} ${formatMeasure(latest?.percentiles[percentile] ?? Number.NaN, unit)}`,
  );
  const told = [
    count(changes.length, "change"),
    count(spikes.length, "spike"),
    count(hardware.length, "hardware change"),
  ];
  const marked = told.filter((text) => !text.startsWith("0 "));
  const marks = marked.length === 0 ? "" : `; marked: ${marked.join(", ")}`;
  return `${metric} of ${subject} over time, ${count(points.length, "point")}; the latest: ${values.join(", ")}${marks}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
