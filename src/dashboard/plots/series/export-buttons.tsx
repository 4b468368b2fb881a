import { historyEndpoints } from "../../../protocol/history/history-endpoints.ts";
import { useState } from "preact/hooks";
import type { Client } from "../../../client/client.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { Series } from "../../../protocol/history/series.ts";
import { formatNumber } from "../../../words/numbers.ts";
import type { TimeWindow } from "./time-window.tsx";
import { saveFile } from "../../ui/buttons.tsx";

const FORMATS = { csv: "CSV", ndjson: "NDJSON", parquet: "Parquet" } as const;
type Format = keyof typeof FORMATS;

interface ExportButtonsProps {
  readonly client: Client;
  readonly series: Series;
  readonly window: TimeWindow;
}

/** Saves what a plot shows as a file. A key goes with the request, so that a plain link would not do. */
export function ExportButtons({ client, series, window }: ExportButtonsProps) {
  const [failure, setFailure] = useState<string | null>(null);
  const save = async (format: Format) => {
    setFailure(null);
    try {
      const from = new Date(Date.now() - window.spanMs).toISOString();
      const query = { series: series.id, from, step: window.step, limit: LIMITS.historyPoints, format };
      const response = await client.send(historyEndpoints.listPoints, { query });
      saveFile(await response.blob(), `${series.subject}-${series.metric}.${format}`);
    } catch (error) {
      setFailure((error as Error).message);
    }
  };
  return (
    <div class="export" role="group" aria-label="Save points as a file">
      <span class="muted">Save as</span>
      {Object.entries(FORMATS).map(([format, name]) => (
        <button key={format} type="button" onClick={() => void save(format as Format)}>
          {name}
        </button>
      ))}
      <span class="muted" role="status">
        {failure ?? `up to ${formatNumber(LIMITS.historyPoints)} points of the last ${window.name}`}
      </span>
    </div>
  );
}
