import { useCallback } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { Trace } from "../../protocol/trace.ts";
import { formatBytes, formatNumber } from "../format.ts";
import { Panel } from "../panel.tsx";
import { useResource } from "../use-resource.ts";
import { DownloadButton } from "./download-button.tsx";
import { layOutTrace } from "./lay-out-trace.ts";
import { TraceTimeline } from "./trace-timeline.tsx";

interface TracePanelProps {
  readonly client: Client;
  readonly runId: string;
  readonly sizeBytes: number;
}

/** The trace of a run on lanes over time, and as the file that other viewers open. */
export function TracePanel({ client, runId, sizeBytes }: TracePanelProps) {
  const trace = useResource(
    useCallback(
      async (signal: AbortSignal) => {
        const response = await client.send(endpoints.getRunTrace, { params: { id: runId }, signal });
        const { otherData, traceEvents } = Trace.parse(await response.json());
        return { otherData, laid: layOutTrace({ traceEvents }) };
      },
      [client, runId],
    ),
  );
  const { value, error } = trace;
  return (
    <Panel
      id="trace"
      title="Trace"
      resource={trace}
      aside={
        <DownloadButton client={client} endpoint={endpoints.getRunTrace} id={runId} fileName={`${runId}-trace.json`}>
          {`Download trace (${formatBytes(sizeBytes)})`}
        </DownloadButton>
      }
    >
      {value === null && error === null && <p class="muted loading">Reading the trace …</p>}
      {value !== null && value.laid.lanes.length === 0 && <p class="muted">It holds no span.</p>}
      {value !== null && value.laid.lanes.length > 0 && <TraceTimeline key={runId} trace={value.laid} />}
      {value !== null && (
        <p class="muted">
          <small>
            {value.otherData.droppedEvents > 0 &&
              `The ${formatNumber(value.otherData.droppedEvents)} oldest events are left out. `}
            {value.otherData.alignment} Perfetto and chrome://tracing open the file.
          </small>
        </p>
      )}
    </Panel>
  );
}
