import { useCallback } from "preact/hooks";
import { endpoints } from "../../protocol/endpoints.ts";
import type { JobSummary } from "../../protocol/jobs/job.ts";
import { formatNumber } from "../../words/numbers.ts";
import { describeProgress } from "../../words/jobs.ts";
import { judgeJob } from "../../words/kinds/registry.ts";
import { training } from "../../words/kinds/training.ts";
import { Badge } from "../ui/badges.tsx";
import { useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import { JobProblem } from "../ui/job-table.tsx";
import { nextCommands } from "../ui/next-commands.ts";
import { EmptyState, Panel } from "../ui/panels.tsx";
import { Timestamp } from "../ui/timestamp.tsx";
import type { ViewProps } from "../ui/view-props.ts";
import { ShownTraining } from "./shown-training.tsx";

interface TrainingTableProps {
  readonly jobs: readonly JobSummary[];
  /** Id of the job that is shown. */
  readonly shown: string | null;
  readonly onShow: (id: string) => void;
}

/** The latest trainings: what is learned by what, and how far each is. */
function TrainingTable({ jobs, shown, onShow }: TrainingTableProps) {
  return (
    <table class="judgements">
      <thead>
        <tr>
          <th scope="col">Environment</th>
          <th scope="col">Algorithm</th>
          <th scope="col">State</th>
          <th scope="col">Submitted</th>
          <th scope="col">Curve</th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => {
          const { id, spec, state, progress, problem, createdAt } = job;
          if (spec.kind !== training.kind) return null;
          const [tone, word] = judgeJob(job);
          return (
            <tr key={id}>
              <th scope="row" title={id}>
                {spec.environment}
                <small>{`seed ${spec.seed}${spec.publish === undefined ? "" : `, for ${spec.publish.model}`}`}</small>
              </th>
              <td data-label="Algorithm">
                {spec.algorithm.name}
                <small>{`${formatNumber(spec.algorithm.population)} members, ${formatNumber(spec.generations)} generations`}</small>
              </td>
              <td data-label="State">
                <Badge tone={tone}>{word}</Badge>
                {state === "leased" && progress !== null && <small>{describeProgress(progress)}</small>}
                <JobProblem problem={problem} />
              </td>
              <td data-label="Submitted">
                <Timestamp at={createdAt} />
              </td>
              <td data-label="Curve">
                <button type="button" aria-pressed={id === shown} onClick={() => onShow(id)}>
                  Show<span class="unseen">{` the training in ${spec.environment}`}</span>
                </button>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

const JOBS_SHOWN = 20;

/** The latest trainings, and one of them in depth. */
export function TrainingPanel({ client, subscribe, address, onPick }: ViewProps) {
  const jobs = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        (await client.call(endpoints.listJobs, { query: { kind: training.kind, limit: JOBS_SHOWN }, signal })).items,
      [client],
    ),
  );
  useRefreshOn(subscribe, "job", jobs.refresh);
  const { value, error } = jobs;
  const shown = address.job ?? value?.[0]?.id ?? null;
  return (
    <>
      <Panel id="trainings" title="Trainings" resource={jobs}>
        {value === null && error === null && <p class="muted loading">Reading trainings …</p>}
        {value?.length === 0 && (
          <EmptyState says="No policy has been trained yet." command={nextCommands.submitTraining}>
            This trains one to balance a pole on a cart, and serves it:
          </EmptyState>
        )}
        {value !== null && value.length > 0 && (
          <TrainingTable jobs={value} shown={shown} onShow={(job) => onPick({ job })} />
        )}
      </Panel>
      {shown !== null && <ShownTraining key={shown} client={client} subscribe={subscribe} id={shown} />}
    </>
  );
}
