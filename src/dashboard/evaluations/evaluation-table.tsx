import type { JobSummary } from "../../protocol/jobs/job.ts";
import { evaluation, nameEntrants } from "../../words/kinds/evaluation.ts";
import { formatNumber, PAGE_NUMBERS } from "../../words/numbers.ts";
import { JudgedState } from "../ui/job-table.tsx";
import { Timestamp } from "../ui/timestamp.tsx";
import { ShowButton } from "../ui/buttons.tsx";
import { DataTable } from "../ui/data-table.tsx";

interface EvaluationTableProps {
  readonly jobs: readonly JobSummary[];
  /** Id of the run that is shown. */
  readonly shown: string | null;
  readonly onShow: (runId: string) => void;
}

/** The latest evaluations: what was evaluated, and how far each is. */
export function EvaluationTable({ jobs, shown, onShow }: EvaluationTableProps) {
  const rows = jobs.flatMap(({ spec, ...job }) => (spec.kind === evaluation.kind ? [{ ...job, spec }] : []));
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
          note: ({ spec }) => `${formatNumber(spec.episodes)} episodes each, seed ${spec.seed}`,
        },
        { name: "Policies", cell: ({ spec }) => nameEntrants(spec, PAGE_NUMBERS) },
        { name: "State", cell: (job) => <JudgedState job={job} /> },
        { name: "Submitted", cell: ({ createdAt }) => <Timestamp at={createdAt} /> },
        {
          name: "Result",
          cell: ({ runId, spec }) =>
            runId === null ? (
              <span class="muted">none</span>
            ) : (
              <ShowButton
                isShown={runId === shown}
                onShow={() => onShow(runId)}
                what={`the evaluation in ${spec.environment}`}
              />
            ),
        },
      ]}
    />
  );
}
