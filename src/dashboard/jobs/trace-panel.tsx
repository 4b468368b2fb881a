import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { formatBytes, formatNumber } from "../format.ts";
import { DownloadButton } from "./download-button.tsx";
import type { ReadRun } from "./read-job.ts";
import { TraceTimeline } from "./trace-timeline.tsx";

interface TracePanelProps {
  readonly client: Client;
  readonly run: ReadRun;
  readonly sizeBytes: number;
}

/** The trace of a run on lanes over time, and as the file that other viewers open. */
export function TracePanel({ client, run: { id, trace }, sizeBytes }: TracePanelProps) {
  const dropped = trace?.otherData.droppedEvents ?? 0;
  return (
    <section class="panel" aria-labelledby="trace">
      <div class="panel-head">
        <h2 id="trace">Trace</h2>
        <DownloadButton client={client} endpoint={endpoints.getRunTrace} id={id} fileName={`${id}-trace.json`}>
          {`Download trace (${formatBytes(sizeBytes)})`}
        </DownloadButton>
      </div>
      {trace === null && <p class="muted">It could not be read.</p>}
      {trace?.laid.lanes.length === 0 && <p class="muted">It holds no span.</p>}
      {trace !== null && trace.laid.lanes.length > 0 && <TraceTimeline key={id} trace={trace.laid} />}
      {trace !== null && (
        <p class="muted">
          <small>
            {dropped > 0 && `The ${formatNumber(dropped)} oldest events are left out. `}
            {trace.otherData.alignment} Perfetto and chrome://tracing open the file.
          </small>
        </p>
      )}
    </section>
  );
}
