import type { Client } from "../../client/client.ts";
import type { Job } from "../../protocol/jobs/job.ts";
import type { ProbeResult } from "../../protocol/jobs/probe.ts";
import { plotEndpoints } from "../../protocol/models/plot-endpoints.ts";
import type { JobNames } from "../../words/jobs.ts";
import { SvgPlot } from "../plots/svg-plot.tsx";
import { Badge } from "../ui/badges.tsx";
import { type PageAddress, writeAddress } from "../ui/page-address.ts";
import { BenchmarkDetail } from "./benchmark-detail.tsx";
import type { ReadJob } from "./read-job.ts";
import { SampleFigures } from "./sample-figures.tsx";
import { JsonText } from "./spec-panel.tsx";

/** What is claimed of a device, beside what the probe found there. */
function ClaimTable({ claims }: Pick<ProbeResult, "claims">) {
  return (
    <table class="judgements">
      <thead>
        <tr>
          <th scope="col">Claim</th>
          <th scope="col">Claimed</th>
          <th scope="col">Found</th>
          <th scope="col">Outcome</th>
        </tr>
      </thead>
      <tbody>
        {claims.map(({ claim, claimed, found, ok }, index) => (
          <tr key={index}>
            <th scope="row">{claim}</th>
            <td data-label="Claimed">{claimed}</td>
            <td data-label="Found">{found}</td>
            <td data-label="Outcome">
              <Badge tone={ok ? "good" : "bad"}>{ok ? "true" : "not so"}</Badge>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Where the page shows a result in depth. */
export interface ResultLink {
  readonly text: string;
  readonly address: PageAddress;
}

/** Where else a job's result is shown; nothing of one that has none. */
function listResultLinks(
  { id, spec, runId, runnerId, result }: Pick<Job, "id" | "spec" | "runId" | "runnerId" | "result">,
  names: JobNames,
): ResultLink[] {
  const run = runId ?? undefined;
  if (result === null || run === undefined) return [];
  switch (spec.kind) {
    case "benchmark":
    case "throughput":
    case "tuning":
      return [{ text: `The kernel ${spec.kernel}`, address: { view: "kernels", kernel: spec.kernel } }];
    case "validation":
      return [{ text: "Verdicts and scenarios", address: { view: "validation", run } }];
    case "optimisation":
      return [{ text: "Trials and the best configuration", address: { view: "validation", run } }];
    case "evaluation":
      return [{ text: "Returns and episodes", address: { view: "evaluations", run } }];
    case "training":
      return [
        { text: "Learning curve in depth", address: { view: "evaluations", job: id } },
        ...(spec.publish === undefined ? [] : [linkModel(spec.publish.model)]),
        ...(result.kind === "training" && result.qualityDiversity !== null
          ? [{ text: "Archives of elites", address: { view: "archives" } as const }]
          : []),
      ];
    case "compression":
      return [linkModel(spec.model)];
    case "calibration": {
      const model = names.models.get(spec.modelVersionId)?.split("@")[0];
      return model === undefined ? [] : [linkModel(model)];
    }
    case "probe":
      return runnerId === null ? [] : [{ text: "The runner", address: { view: "runners", runner: runnerId } }];
    case "evolution":
    case "consensus":
      return [];
  }
}

function linkModel(model: string): ResultLink {
  return { text: `The model ${model}`, address: { view: "models", model } };
}

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
        <SvgPlot client={client} endpoint={plotEndpoints.plotLearning} id={id} moment={`${state} ${events}`} />
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
