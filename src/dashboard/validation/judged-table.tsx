import type { JobSummary } from "../../protocol/jobs/job.ts";
import { JudgedState } from "../ui/job-table.tsx";
import { NO_NAMES } from "../../words/jobs.ts";
import { describeSpec, describeWanted, nameSpec } from "../../words/kinds/registry.ts";
import { Timestamp } from "../ui/timestamp.tsx";
import { ShowButton } from "../ui/buttons.tsx";
import { DataTable } from "../ui/data-table.tsx";

interface JudgedTableProps {
  readonly jobs: readonly JobSummary[];
  /** Id of the run that is shown. */
  readonly shown: string | null;
  readonly onShow: (runId: string) => void;
}

/** The latest validations and optimisations with their verdicts. */
export function JudgedTable({ jobs, shown, onShow }: JudgedTableProps) {
  const nameOf = ({ spec }: JobSummary) => nameSpec(spec, NO_NAMES);
  return (
    <DataTable
      class="judgements"
      rows={jobs}
      keyOf={({ id }) => id}
      columns={[
        {
          name: "Subject",
          head: true,
          title: ({ id }) => id,
          cell: (job) => (
            <>
              <span class="kind">{job.spec.kind}</span> {nameOf(job)}
            </>
          ),
          note: ({ spec }) => describeSpec(spec),
        },
        { name: "Verdict", cell: (job) => <JudgedState job={job} /> },
        { name: "Wanted", cell: ({ spec }) => describeWanted(spec) },
        { name: "Submitted", cell: ({ createdAt }) => <Timestamp at={createdAt} /> },
        {
          name: "Result",
          cell: (job) => {
            const { runId, spec } = job;
            if (runId === null) return <span class="muted">none</span>;
            const what = `the ${spec.kind} of ${nameOf(job)}`;
            return <ShowButton isShown={runId === shown} onShow={() => onShow(runId)} what={what} />;
          },
        },
      ]}
    />
  );
}
