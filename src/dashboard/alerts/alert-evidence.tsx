import { alertEndpoints } from "../../protocol/history/alert-endpoints.ts";
import { useCallback, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import type { AlertDetail, Change } from "../../protocol/history/alert.ts";
import { describeLevels, describeMove, nameAlert, nameChange } from "../../words/alerts.ts";
import { writeAddress } from "../ui/page-address.ts";
import { toneOf } from "../plots/plot-marks.ts";
import { readSeriesHistory, trimAround } from "../plots/series/series-history.ts";
import { SeriesFigure } from "../plots/series/series-plot.tsx";
import { useResource } from "../ui/hooks/use-resource.ts";
import { DataTable } from "../ui/data-table.tsx";
import { describeSizes } from "../../words/numbers.ts";

const DAY_MS = 86_400_000;
/** Time shown on either side of a change; live requests are kept as measured for two days only. */
const RUNS_SPAN_MS = 30 * DAY_MS;
const REQUESTS_SPAN_MS = 7 * DAY_MS;
const REQUESTS_STEP = "1h";

/** Evidence of an alert: its changes, and the plot around one of them. */
export function AlertEvidence({ client, id }: { client: Client; id: string }) {
  const detail = useResource(
    useCallback(
      (signal: AbortSignal) => client.call(alertEndpoints.getAlert, { params: { id }, signal }),
      [client, id],
    ),
  );
  const [picked, setPicked] = useState<string | null>(null);
  const { value, error } = detail;
  if (value === null)
    return (
      <div class="evidence">
        <p class="muted plot-note">
          {error === null ? "Reading the evidence …" : `It could not be read: ${error.message}`}
        </p>
      </div>
    );
  const shown = value.items.find((change) => change.id === picked) ?? value.leading;
  if (shown === null) return null;
  return (
    <div class="evidence">
      {value.items.length > 1 && <ChangeTable detail={value} shown={shown} onPick={setPicked} />}
      <ChangePlot key={shown.id} client={client} change={shown} />
      <p>
        <a href={`/${writeAddress({ view: "history", series: shown.series.id })}`}>The whole series</a>
      </p>
      {value.neighbours.length > 0 && (
        <p>
          <b>At the same time on the same device: </b>
          {value.neighbours.map((each, index) => (
            <>
              {index > 0 && ", "}
              <a href={`/${writeAddress({ view: "alerts", alert: each.id })}`}>{nameAlert(each)}</a>
            </>
          ))}
        </p>
      )}
    </div>
  );
}

function ChangePlot({ client, change }: { client: Client; change: Change }) {
  const past = useResource(
    useCallback(
      async (signal: AbortSignal) => {
        const isOfRuns = change.runId !== null;
        const sideMs = isOfRuns ? RUNS_SPAN_MS : REQUESTS_SPAN_MS;
        const endMs = Date.parse(change.completeAt) + sideMs;
        const spanMs = endMs - Date.parse(change.after) + sideMs;
        const step = isOfRuns ? {} : { step: REQUESTS_STEP };
        const read = await readSeriesHistory(client, change.series.id, { spanMs, endMs, ...step }, signal);
        return trimAround(read, change);
      },
      [client, change.id],
    ),
  );
  return <SeriesFigure series={change.series} past={past} whyEmpty="The points around it are no longer kept." />;
}

interface ChangeTableProps {
  readonly detail: AlertDetail;
  readonly shown: Change;
  readonly onPick: (id: string) => void;
}

function ChangeTable({ detail, shown, onPick }: ChangeTableProps) {
  return (
    <DataTable
      class="moved"
      rows={detail.items}
      keyOf={({ id }) => id}
      columns={[
        {
          name: "Series",
          head: true,
          cell: nameChange,
          note: ({ series }) => describeSizes(series.configuration),
        },
        {
          name: "Change",
          cell: (change) => {
            const tone = toneOf(change);
            return <b class={tone === "worse" ? "bad" : "good"}>{`${tone} ${describeMove(change)}`}</b>;
          },
        },
        { name: "Levels", cell: (change) => describeLevels(change, change.series.unit) },
        {
          name: "Plot",
          cell: (change) => {
            const isShown = change.id === shown.id;
            const label = isShown ? `shown: ${nameChange(change)}` : `show ${nameChange(change)}`;
            return (
              <button type="button" aria-pressed={isShown} aria-label={label} onClick={() => onPick(change.id)}>
                {isShown ? "shown" : "show"}
              </button>
            );
          },
        },
      ]}
    />
  );
}
