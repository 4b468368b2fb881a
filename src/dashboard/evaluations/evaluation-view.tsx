import { runEndpoints } from "../../protocol/history/run-endpoints.ts";
import { jobEndpoints } from "../../protocol/jobs/job-endpoints.ts";
import { useCallback } from "preact/hooks";
import { evaluation } from "../../words/kinds/evaluation.ts";
import { useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import { nextCommands } from "../ui/next-commands.ts";
import { EmptyState, Panel } from "../ui/panels.tsx";
import type { ViewProps } from "../ui/view-props.ts";
import { ComparisonPanel } from "./comparison-panel.tsx";
import { EvaluationDetail } from "./evaluation-detail.tsx";
import { EvaluationTable } from "./evaluation-table.tsx";
import { ReplayPanel } from "./replay-panel.tsx";
import { TrainingPanel } from "./training-panel.tsx";

const JOBS_SHOWN = 20;

/** The latest evaluations of policies, and one of them in depth. */
function EvaluationPanel(props: ViewProps) {
  const { client, subscribe, address, onPick } = props;
  const jobs = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        (await client.call(jobEndpoints.listJobs, { query: { kind: evaluation.kind, limit: JOBS_SHOWN }, signal }))
          .items,
      [client],
    ),
  );
  useRefreshOn(subscribe, "job", jobs.refresh);
  const { value, error } = jobs;
  const shown = address.run ?? value?.find(({ runId }) => runId !== null)?.runId ?? null;
  return (
    <>
      <Panel id="evaluations" title="Evaluations of policies" resource={jobs}>
        {value === null && error === null && <p class="muted loading">Reading evaluations …</p>}
        {value?.length === 0 && (
          <EmptyState says="No policy has been evaluated yet." command={nextCommands.submitEvaluation}>
            This rolls one out in a hundred episodes, and records three of them:
          </EmptyState>
        )}
        {value !== null && value.length > 0 && (
          <EvaluationTable jobs={value} shown={shown} onShow={(run) => onPick({ run, replay: undefined })} />
        )}
      </Panel>
      {shown !== null && <ShownEvaluation key={shown} {...props} runId={shown} jobs={value ?? []} />}
    </>
  );
}

type ShownEvaluationProps = ViewProps & {
  readonly runId: string;
  readonly jobs: Parameters<typeof ComparisonPanel>[0]["jobs"];
};

function ShownEvaluation({ runId, jobs, ...props }: ShownEvaluationProps) {
  const { client } = props;
  const read = useResource(
    useCallback(
      (signal: AbortSignal) => client.call(runEndpoints.getRun, { params: { id: runId }, signal }),
      [client, runId],
    ),
  );
  const { value, error } = read;
  const run =
    value?.origin === "job" && value.result.kind === evaluation.kind && value.spec.kind === evaluation.kind
      ? { ...value, spec: value.spec, result: value.result }
      : null;
  return (
    <>
      <Panel id="evaluation" title={run === null ? "Evaluation" : `Scores in ${run.result.task.name}`} resource={read}>
        <div class="judged">
          {value === null && error === null && <p class="muted loading">Reading the result …</p>}
          {value !== null && run === null && <p class="muted">This run is no evaluation.</p>}
          {run !== null && <EvaluationDetail client={client} runId={runId} result={run.result} />}
        </div>
      </Panel>
      {run !== null && <ReplayPanel {...props} run={run} />}
      {run !== null && <ComparisonPanel {...props} jobs={jobs} environment={run.spec.environment} />}
    </>
  );
}

const PARTS = [
  [undefined, "Evaluations"],
  ["trainings", "Trainings"],
] as const;

/** The view of evaluations and trainings: the latest of either, and one of them in depth. */
export function EvaluationView(props: ViewProps) {
  const { address, onPick } = props;
  const isTraining = address.part === "trainings";
  return (
    <main id="content" tabIndex={-1}>
      <h1 class="unseen">Evaluations</h1>
      <div class="parts" role="group" aria-label="Part">
        {PARTS.map(([part, name]) => (
          <button
            key={name}
            type="button"
            aria-pressed={isTraining === (part !== undefined)}
            onClick={() => onPick({ part })}
          >
            {name}
          </button>
        ))}
      </div>
      {isTraining ? <TrainingPanel {...props} /> : <EvaluationPanel {...props} />}
    </main>
  );
}
