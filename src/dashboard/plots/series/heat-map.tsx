import { historyEndpoints } from "../../../protocol/history/history-endpoints.ts";
import { useCallback, useState } from "preact/hooks";
import type { Client } from "../../../client/client.ts";
import type { Heatmap } from "../../../protocol/history/history-query.ts";
import type { Series } from "../../../protocol/history/series.ts";
import { formatShare } from "../../../words/numbers.ts";
import { densestRow, type HeatPlace, nameRow, tallyHeat } from "../map-cells.ts";
import { HeatPlot } from "./heat-plot.tsx";
import type { TimeWindow } from "./time-window.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { useResource } from "../../ui/hooks/use-resource.ts";
import { DataTable } from "../../ui/data-table.tsx";

/** Steps of a day and an hour are few enough for the table. */
const TABLE_ROWS = 12;
const ROWS = 32;

/** Histogram of the values over time: shows two modes side by side where percentiles show one. */
export function HeatMap({ client, series, window }: { client: Client; series: Series; window: TimeWindow }) {
  const { id } = series;
  const heat = useResource(
    useCallback(
      (signal: AbortSignal) => {
        const now = Date.now();
        const query = {
          series: [id],
          from: new Date(now - window.spanMs).toISOString(),
          to: new Date(now).toISOString(),
          step: window.step,
          rows: ROWS,
        };
        return client.call(historyEndpoints.readHeatmap, { query, signal });
      },
      [client, id, window],
    ),
  );
  const { value, error } = heat;
  const isEmpty = value !== null && value.times.length === 0;
  return (
    <figure class="heat">
      <h3>Spread over time</h3>
      {value === null || isEmpty ? (
        <>
          <div class="readout" />
          <div class="plot low">
            <p class="muted plot-note">
              {error !== null
                ? `The heat map could not be read: ${error.message}`
                : isEmpty
                  ? "Nothing was measured in this time."
                  : "Reading the heat map …"}
            </p>
          </div>
        </>
      ) : (
        <Drawn heat={value} series={series} />
      )}
    </figure>
  );
}

function Drawn({ heat, series }: { heat: Heatmap; series: Series }) {
  const [place, setPlace] = useState<HeatPlace | null>(null);
  const { most, totals } = tallyHeat(heat);
  const { unit } = series;
  return (
    <>
      <div class="readout">
        <span class="heat-legend" aria-hidden="true">
          0 <i /> {most}
        </span>
        <output class="muted">
          {place === null
            ? "Point at a cell, or move through them with the arrow keys."
            : tellCell(heat, place, totals, unit)}
        </output>
      </div>
      <div class="plot low">
        <HeatPlot
          heat={heat}
          unit={unit}
          label={`How often which ${series.metric} of ${series.subject} was measured, in ${heat.times.length} steps of ${heat.step}; at most ${most} times in one cell`}
          onPlace={setPlace}
        />
      </div>
      <details>
        <summary>Spread as a table</summary>
        <DataTable
          class="points"
          rows={heat.times
            .map((at, column) => sumStep(heat, column, at, totals[column] ?? 0))
            .slice(-TABLE_ROWS)
            .toReversed()}
          keyOf={({ at }) => at}
          columns={[
            { name: "Time", cell: ({ at }) => <Timestamp at={at} /> },
            { name: "Samples", cell: ({ total }) => total },
            { name: "Most often", cell: ({ dense }) => nameRow(heat.edges, dense, unit) },
            { name: "Range", cell: ({ range }) => nameRow(range, 0, unit) },
          ]}
        />
      </details>
    </>
  );
}

/** One step of time: its samples, the row with most of them, and the ends of what was measured. */
function sumStep({ counts, edges }: Heatmap, column: number, at: string, total: number) {
  const rows = counts[column] ?? [];
  const lowest = rows.findIndex((count) => count > 0);
  const highest = rows.findLastIndex((count) => count > 0);
  const range = [edges[lowest] ?? Number.NaN, edges[highest + 1] ?? Number.NaN];
  return { at, total, dense: densestRow(rows), range };
}

function tellCell(heat: Heatmap, { column, row }: HeatPlace, totals: readonly number[], unit: string) {
  const count = heat.counts[column]?.[row] ?? 0;
  const share = count === 0 ? "" : ` (${formatShare(count / (totals[column] ?? 1))})`;
  return (
    <>
      <Timestamp at={heat.times[column] ?? null} />:{" "}
      {`${nameRow(heat.edges, row, unit)}: ${count} of ${totals[column] ?? 0}${share}`}
    </>
  );
}
