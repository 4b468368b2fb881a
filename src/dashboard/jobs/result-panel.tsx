import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import type { JobNames } from "../job-names.ts";
import { writeAddress } from "../page-address.ts";
import { SvgPlot } from "../svg-plot.tsx";
import { BenchmarkDetail } from "./benchmark-detail.tsx";
import { ClaimTable } from "./claim-table.tsx";
import { JsonText } from "./json-text.tsx";
import type { ReadJob } from "./read-job.ts";
import { listResultLinks } from "./result-links.ts";
import { SampleFigures } from "./sample-figures.tsx";

interface ResultPanelProps {
  readonly client: Client;
  readonly read: ReadJob;
  readonly names: JobNames;
  /** Events of the job so far: a training's curve grows with them. */
  readonly events: number;
}

/** What became of a job, as far as there is something: by its kind, with what was measured. */
export function ResultPanel({ client, read: { job, run, device }, names, events }: ResultPanelProps) {
  const { id, spec, state, result } = job;
  const isTraining = spec.kind === "training" && (state === "leased" || state === "succeeded");
  if (result === null && !isTraining) return null;
  const links = listResultLinks(job, names);
  return (
    <section class="panel" aria-labelledby="result">
      <div class="panel-head">
        <h2 id="result">Result</h2>
      </div>
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
      {result?.kind === "benchmark" && <BenchmarkDetail result={result} device={device} />}
      {result?.kind === "probe" && <ClaimTable claims={result.claims} />}
      {run !== null && run.samplesBytes !== null && (
        <SampleFigures client={client} run={run} sizeBytes={run.samplesBytes} />
      )}
      {result !== null && <JsonText label="Result as JSON" value={result} />}
    </section>
  );
}
