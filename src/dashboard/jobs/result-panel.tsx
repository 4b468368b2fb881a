import { useCallback } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import type { Job } from "../../protocol/job.ts";
import type { JobNames } from "../job-names.ts";
import { writeAddress } from "../page-address.ts";
import { Panel } from "../panel.tsx";
import { SvgPlot } from "../svg-plot.tsx";
import { useResource } from "../use-resource.ts";
import { BenchmarkDetail } from "./benchmark-detail.tsx";
import { ClaimTable } from "./claim-table.tsx";
import { JsonText } from "./json-text.tsx";
import { listResultLinks } from "./result-links.ts";
import { SampleFigures } from "./sample-figures.tsx";
import { TracePanel } from "./trace-panel.tsx";

interface ResultPanelProps {
  readonly client: Client;
  readonly job: Job;
  readonly names: JobNames;
  /** Events of the job so far: a training's curve grows with them. */
  readonly events: number;
}

/** What became of a job, as far as there is something: by its kind, with what was measured and the trace. */
export function ResultPanel({ client, job, names, events }: ResultPanelProps) {
  const { id, spec, state, runId, result } = job;
  const run = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        runId === null ? null : client.call(endpoints.getRun, { params: { id: runId }, signal }),
      [client, runId],
    ),
  );
  const isTraining = spec.kind === "training" && (state === "leased" || state === "succeeded");
  if (result === null && !isTraining) return null;
  const links = listResultLinks(job, names);
  const kept = run.value?.origin === "job" ? run.value : null;
  return (
    <>
      <Panel id="result" title="Result" resource={run}>
        {links.length > 0 && (
          <p class="names result-links">
            {links.map(({ text, address }) => (
              <a key={text} href={writeAddress(address)}>
                {text}
              </a>
            ))}
          </p>
        )}
        {isTraining && (
          <SvgPlot client={client} endpoint={endpoints.plotLearning} id={id} moment={`${state} ${events}`} />
        )}
        {result?.kind === "benchmark" && <BenchmarkDetail client={client} job={job} result={result} />}
        {result?.kind === "probe" && <ClaimTable claims={result.claims} />}
        {kept !== null && kept.samplesBytes !== null && (
          <SampleFigures client={client} runId={kept.id} sizeBytes={kept.samplesBytes} />
        )}
        {result !== null && <JsonText label="Result as JSON" value={result} />}
      </Panel>
      {kept !== null && kept.traceBytes !== null && (
        <TracePanel client={client} runId={kept.id} sizeBytes={kept.traceBytes} />
      )}
    </>
  );
}
