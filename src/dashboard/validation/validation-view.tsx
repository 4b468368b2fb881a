import { runEndpoints } from "../../protocol/history/run-endpoints.ts";
import { jobEndpoints } from "../../protocol/jobs/job-endpoints.ts";
import { useCallback } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import type { JobKind, JobResult, JobSummary } from "../../protocol/jobs/job.ts";
import type { OptimisationResult } from "../../protocol/jobs/optimisation.ts";
import type { ValidationResult } from "../../protocol/jobs/validation.ts";
import { CommandBlock, EmptyState, Panel } from "../ui/panels.tsx";
import { JudgedTable } from "./judged-table.tsx";
import { nameSubject } from "../../words/jobs.ts";
import { optimisation } from "../../words/kinds/optimisation.ts";
import { validation } from "../../words/kinds/validation.ts";
import { nextCommands } from "../ui/next-commands.ts";
import { OptimisationDetail } from "./optimisation-detail.tsx";
import { Timestamp } from "../ui/timestamp.tsx";
import { TradePanel } from "./trade-panel.tsx";
import { useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import { ValidationDetail } from "./validation-detail.tsx";
import type { ViewProps } from "../ui/view-props.ts";

const JOBS_SHOWN = 15;

/** The view of what was validated and optimised: the latest of both, and one of them in depth. */
export function ValidationView({ client, subscribe, address, onPick }: ViewProps) {
  const jobs = useResource(useCallback((signal: AbortSignal) => readJobs(client, signal), [client]));
  useRefreshOn(subscribe, "job", jobs.refresh);
  const { value, error } = jobs;
  const shown = address.run ?? value?.find(({ runId }) => runId !== null)?.runId ?? null;
  return (
    <main id="content" tabIndex={-1} aria-busy={value === null && error === null}>
      <h1 class="unseen">Validation</h1>
      <Panel id="validations" title="Validations and optimisations" resource={jobs}>
        {value === null && error === null && <p class="muted loading">Reading validations …</p>}
        {value?.length === 0 && <NothingJudged />}
        {value !== null && value.length > 0 && (
          <JudgedTable jobs={value} shown={shown} onShow={(run) => onPick({ run })} />
        )}
      </Panel>
      {shown !== null && <RunPanel key={shown} client={client} runId={shown} />}
      <TradePanel client={client} subscribe={subscribe} />
    </main>
  );
}

/** The latest of both kinds, the newest first. */
async function readJobs(client: Client, signal: AbortSignal): Promise<JobSummary[]> {
  const read = async (kind: JobKind) =>
    (await client.call(jobEndpoints.listJobs, { query: { kind, limit: JOBS_SHOWN }, signal })).items;
  const both = await Promise.all([read(validation.kind), read(optimisation.kind)]);
  return both
    .flat()
    .toSorted((a, b) => b.createdAt.localeCompare(a.createdAt))
    .slice(0, JOBS_SHOWN);
}

function NothingJudged() {
  return (
    <>
      <EmptyState says="Nothing has been validated yet." command={nextCommands.submitValidation}>
        A validation puts a model or kernel under the field's own load and judges it by what you require:
      </EmptyState>
      <div class="empty">
        <p>An optimisation searches for the configuration that reaches your targets, and says so when there is none:</p>
        <CommandBlock label="Command that starts an optimisation" command={nextCommands.submitOptimisation} />
      </div>
    </>
  );
}

const TITLES = { validation: "Validation", optimisation: "Optimisation" } as const;

function isJudgement(result: JobResult): result is ValidationResult | OptimisationResult {
  return result.kind === validation.kind || result.kind === optimisation.kind;
}

function RunPanel({ client, runId }: { client: Client; runId: string }) {
  const run = useResource(
    useCallback(
      (signal: AbortSignal) => client.call(runEndpoints.getRun, { params: { id: runId }, signal }),
      [client, runId],
    ),
  );
  const { value, error } = run;
  const job = value?.origin === "job" ? value : null;
  const result = job !== null && isJudgement(job.result) ? job.result : null;
  return (
    <Panel
      id="judged"
      title={result === null ? "Result" : `${TITLES[result.kind]} of ${nameSubject(result.subject)}`}
      resource={run}
      aside={
        job !== null && (
          <span class="muted">
            <Timestamp at={job.endedAt} />
          </span>
        )
      }
    >
      <div class="judged">
        {value === null && error === null && <p class="muted loading">Reading the result …</p>}
        {result?.kind === validation.kind && <ValidationDetail client={client} runId={runId} result={result} />}
        {result?.kind === optimisation.kind && <OptimisationDetail client={client} runId={runId} result={result} />}
        {value !== null && result === null && (
          <p class="muted">This run is neither a validation nor an optimisation.</p>
        )}
      </div>
    </Panel>
  );
}
