import { plotEndpoints } from "../../protocol/models/plot-endpoints.ts";
import type { ComponentType } from "preact";
import type { Client } from "../../client/client.ts";
import type { JobKind } from "../../protocol/jobs/job.ts";
import type { JobNames } from "../../words/jobs.ts";
import { listResultLinks } from "../../words/kinds/registry.ts";
import { RooflinePlot } from "../plots/roofline-plot.tsx";
import { SvgPlot } from "../plots/svg-plot.tsx";
import { writeAddress } from "../ui/page-address.ts";
import type { ReadJob } from "./read-job.ts";
import { ResultFacts } from "./result-facts.tsx";
import { SampleFigures } from "./sample-figures.tsx";
import { JsonText } from "./spec-panel.tsx";

interface ResultPanelProps {
  readonly client: Client;
  readonly read: ReadJob;
  readonly names: JobNames;
  /** Events of the job so far: a training's curve grows with them. */
  readonly events: number;
}

/** Extra panel of a kind, beside the facts of its result. */
interface KindPanel {
  readonly Plot: ComponentType<ResultPanelProps>;
  /** Whether it is shown before the result arrives. */
  readonly isLive?: boolean;
}

/** Kinds without one show their facts alone. */
const KIND_PANELS: Partial<Record<JobKind, KindPanel>> = {
  benchmark: { Plot: Roofline },
  training: { Plot: LearningCurve, isLive: true },
};

/** A benchmark's place under its device's roofs. */
function Roofline({ read: { job, device } }: ResultPanelProps) {
  const { result } = job;
  if (device === null || result === null || !("roofline" in result) || result.roofline === null) return null;
  return <RooflinePlot device={device} positions={[result.roofline]} />;
}

function LearningCurve({ client, read, events }: ResultPanelProps) {
  const { id, state } = read.job;
  return <SvgPlot client={client} endpoint={plotEndpoints.plotLearning} id={id} moment={`${state} ${events}`} />;
}

/** Result of a job as far as there is one: its kind's panel and the measurements. */
export function ResultPanel(props: ResultPanelProps) {
  const { client, read, names } = props;
  const { job, run } = read;
  const { spec, state, result } = job;
  const panel = KIND_PANELS[spec.kind];
  if (result === null && !(panel?.isLive === true && (state === "leased" || state === "succeeded"))) return null;
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
      {panel !== undefined && <panel.Plot {...props} />}
      {result !== null && <ResultFacts result={result} />}
      {run !== null && run.samplesBytes !== null && (
        <SampleFigures client={client} run={run} sizeBytes={run.samplesBytes} />
      )}
      {result !== null && <JsonText label="Result as JSON" value={result} />}
    </section>
  );
}
