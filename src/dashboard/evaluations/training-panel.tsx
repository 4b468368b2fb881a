import { jobEndpoints } from "../../protocol/jobs/job-endpoints.ts";
import { useCallback } from "preact/hooks";
import type { JobSummary } from "../../protocol/jobs/job.ts";
import { formatNumber } from "../../words/numbers.ts";
import { training } from "../../words/kinds/training.ts";
import { useRefreshOn } from "../ui/hooks/use-feed.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import { JudgedState } from "../ui/job-table.tsx";
import { nextCommands } from "../ui/next-commands.ts";
import { EmptyState, Panel } from "../ui/panels.tsx";
import { Timestamp } from "../ui/timestamp.tsx";
import type { ViewProps } from "../ui/view-props.ts";
import { ShownTraining } from "./shown-training.tsx";
import { ShowButton } from "../ui/buttons.tsx";
import { DataTable } from "../ui/data-table.tsx";

interface TrainingTableProps {
  readonly jobs: readonly JobSummary[];
  /** Id of the job that is shown. */
  readonly shown: string | null;
  readonly onShow: (id: string) => void;
}

/** The latest trainings: what is learned by what, and how far each is. */
function TrainingTable({ jobs, shown, onShow }: TrainingTableProps) {
  const rows = jobs.flatMap(({ spec, ...job }) => (spec.kind === training.kind ? [{ ...job, spec }] : []));
  return (
    <DataTable
      class="judgements"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          name: "Environment",
          head: true,
          title: ({ id }) => id,
          cell: ({ spec }) => spec.environment,
          note: ({ spec: { seed, publish } }) => `seed ${seed}${publish === undefined ? "" : `, for ${publish.model}`}`,
        },
        {
          name: "Algorithm",
          cell: ({ spec }) => spec.algorithm.name,
          note: ({ spec: { algorithm, generations } }) =>
            `${formatNumber(algorithm.population)} members, ${formatNumber(generations)} generations`,
        },
        { name: "State", cell: (job) => <JudgedState job={job} /> },
        { name: "Submitted", cell: ({ createdAt }) => <Timestamp at={createdAt} /> },
        {
          name: "Curve",
          cell: ({ id, spec }) => (
            <ShowButton isShown={id === shown} onShow={() => onShow(id)} what={`the training in ${spec.environment}`} />
          ),
        },
      ]}
    />
  );
}

const JOBS_SHOWN = 20;

/** The latest trainings, and one of them in depth. */
export function TrainingPanel({ client, subscribe, address, onPick }: ViewProps) {
  const jobs = useResource(
    useCallback(
      async (signal: AbortSignal) =>
        (await client.call(jobEndpoints.listJobs, { query: { kind: training.kind, limit: JOBS_SHOWN }, signal })).items,
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
