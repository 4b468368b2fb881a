import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Client } from "../../../client/client.ts";
import type { HistoryPoint } from "../../../protocol/history/history.ts";
import type { Series } from "../../../protocol/history/series.ts";
import { formatMeasure, formatNumber } from "../../../words/numbers.ts";
import type { Resource } from "../../ui/hooks/use-resource.ts";
import type { Writer } from "../../ui/hooks/use-writer.ts";
import { Timestamp } from "../../ui/timestamp.tsx";
import { DRAWN_PERCENTILES, NO_MARKS, type PlotMarks, toMarks } from "../plot-marks.ts";
import { EventList } from "./event-list.tsx";
import { PlotCanvas } from "./plot-canvas.tsx";
import { SeriesFacts } from "./series-facts.tsx";
import type { SeriesHistory } from "./series-history.ts";
import type { TimeWindow } from "./time-window.tsx";
import { DataTable } from "../../ui/data-table.tsx";

const ROWS = 10;

/** The latest points as numbers, for screen readers and for copying. */
function PointTable({ series, points }: { series: Pick<Series, "unit">; points: readonly HistoryPoint[] }) {
  return (
    <details>
      <summary>Latest points as a table</summary>
      <DataTable
        class="points"
        rows={points.slice(-ROWS).toReversed()}
        keyOf={({ at }) => at}
        columns={[
          { name: "Time", cell: ({ at }) => <Timestamp at={at} /> },
          { name: "Samples", cell: ({ count }) => count },
          ...DRAWN_PERCENTILES.map((name) => ({
            name: `${name} (${series.unit})`,
            cell: ({ percentiles }: HistoryPoint) => formatNumber(percentiles[name] ?? Number.NaN),
          })),
        ]}
      />
    </details>
  );
}

interface SeriesPlotProps {
  readonly client: Client;
  readonly series: Series;
  readonly window: TimeWindow;
  readonly past: Resource<SeriesHistory>;
  readonly writer: Writer;
  /** After the series was muted or unmuted. */
  readonly onMute: () => void;
  /** Shows another series. */
  readonly onShow: (id: string) => void;
  /** Controls above the plot. */
  readonly children: ComponentChildren;
}

/** The plot of a series, what it shows under the pointer, what happened, and where its figures come from. */
export function SeriesPlot({ client, series, window, past, writer, onMute, onShow, children }: SeriesPlotProps) {
  return (
    <div class="plot-and-facts">
      <SeriesFigure
        series={series}
        past={past}
        whyEmpty={`No point in the last ${window.name}: try a longer window.`}
        onShow={onShow}
      >
        {children}
      </SeriesFigure>
      <SeriesFacts client={client} series={series} window={window} writer={writer} onMute={onMute} />
    </div>
  );
}

interface SeriesFigureProps {
  readonly series: Pick<Series, "subject" | "metric" | "unit">;
  readonly past: Resource<SeriesHistory>;
  readonly whyEmpty: string;
  readonly onShow?: (id: string) => void;
  readonly children?: ComponentChildren;
}

/** The plot with its marks, the legend above it, the numbers below. */
export function SeriesFigure({ series, past, whyEmpty, onShow, children }: SeriesFigureProps) {
  const [hovered, setHovered] = useState<number | null>(null);
  const { value } = past;
  const shown = value?.points ?? [];
  const marks = useMemo(() => (value === null ? NO_MARKS : marksOf(value)), [value]);
  const point = shown[hovered ?? shown.length - 1] ?? shown.at(-1) ?? null;
  return (
    <figure>
      <div class="plot-head">
        <Readout series={series} point={point} isLatest={hovered === null} />
        {children}
      </div>
      <div class="plot">
        {shown.length > 0 ? (
          <PlotCanvas series={series} points={shown} marks={marks} onHover={setHovered} />
        ) : (
          <p class="muted plot-note">{sayWhyEmpty(past, whyEmpty)}</p>
        )}
      </div>
      {value?.truncated === true && <p class="muted">Only the latest {shown.length} points are shown.</p>}
      {value !== null && shown.length > 0 && <EventList history={value} onShow={onShow} />}
      {shown.length > 0 && <PointTable series={series} points={shown} />}
    </figure>
  );
}

/** Marks from the first point that is shown on; the last one may stand for a step that goes on. */
function marksOf({ points, happened, hardwareChanges }: SeriesHistory): PlotMarks {
  const [first] = points;
  if (first === undefined) return NO_MARKS;
  const startS = Date.parse(first.at) / 1_000;
  const lastS = Date.parse(points.at(-1)?.at ?? first.at) / 1_000;
  const times = [...happened.changes, ...happened.spikes, ...hardwareChanges].map(({ at }) => Date.parse(at) / 1_000);
  return toMarks(happened, hardwareChanges, [startS, Math.max(lastS, ...times)]);
}

function sayWhyEmpty({ value, error }: Resource<SeriesHistory>, whyEmpty: string): string {
  if (error !== null) return `The points could not be read: ${error.message}`;
  return value === null ? "Reading points …" : whyEmpty;
}

interface ReadoutProps {
  readonly series: Pick<Series, "unit">;
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
