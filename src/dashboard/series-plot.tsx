import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { HistoryPoint, PointsReply } from "../protocol/history.ts";
import type { Series } from "../protocol/series.ts";
import { DRAWN_PERCENTILES } from "./drawn-percentiles.ts";
import { formatMeasure } from "./format.ts";
import { PlotCanvas } from "./plot-canvas.tsx";
import { PointTable } from "./point-table.tsx";
import { SeriesFacts } from "./series-facts.tsx";
import type { TimeWindow } from "./time-window.ts";
import { Timestamp } from "./timestamp.tsx";
import type { Resource } from "./use-resource.ts";

interface SeriesPlotProps {
  readonly series: Series;
  readonly window: TimeWindow;
  readonly points: Resource<PointsReply>;
  /** Controls above the plot. */
  readonly children: ComponentChildren;
}

/** The plot of a series, what it shows under the pointer, and where its figures come from. */
export function SeriesPlot({ series, window, points, children }: SeriesPlotProps) {
  const [hovered, setHovered] = useState<number | null>(null);
  const shown = points.value?.points ?? [];
  const point = shown[hovered ?? shown.length - 1] ?? shown.at(-1) ?? null;
  return (
    <div class="plot-and-facts">
      <figure>
        <div class="plot-head">
          <Readout series={series} point={point} isLatest={hovered === null} />
          {children}
        </div>
        <div class="plot">
          {shown.length > 0 ? (
            <PlotCanvas series={series} points={shown} onHover={setHovered} />
          ) : (
            <p class="muted plot-note">{sayWhyEmpty(points, window)}</p>
          )}
        </div>
        {points.value?.truncated === true && <p class="muted">Only the latest {shown.length} points are shown.</p>}
        {shown.length > 0 && <PointTable series={series} points={shown} />}
      </figure>
      <SeriesFacts series={series} window={window} />
    </div>
  );
}

function sayWhyEmpty({ value, error }: Resource<PointsReply>, window: TimeWindow): string {
  if (error !== null) return `The points could not be read: ${error.message}`;
  return value === null ? "Reading points …" : `No point in the last ${window.name}: try a longer window.`;
}

interface ReadoutProps {
  readonly series: Series;
  readonly point: HistoryPoint | null;
  readonly isLatest: boolean;
}

/** The legend: each line's colour and its value at the point under the pointer, else the latest. */
function Readout({ series, point, isLatest }: ReadoutProps) {
  return (
    <div class="readout">
      {DRAWN_PERCENTILES.map((percentile) => {
        const value = point?.percentiles[percentile];
        return (
          <span key={percentile}>
            <i class={`swatch ${percentile}`} /> {percentile}{" "}
            <b>{value === undefined ? "–" : formatMeasure(value, series.unit)}</b>
          </span>
        );
      })}
      {point !== null && (
        <span class="muted">
          {isLatest ? "latest" : "at"} <Timestamp at={point.at} /> · {point.count} samples
        </span>
      )}
    </div>
  );
}
