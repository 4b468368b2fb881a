import type { JobSummary } from "../../protocol/jobs/job.ts";
import { Badge } from "../ui/badges.tsx";
import { JobProblem } from "../ui/job-table.tsx";
import { describeProgress, NO_NAMES } from "../../words/jobs.ts";
import { describeSpec, describeWanted, judgeJob, nameSpec } from "../../words/kinds/registry.ts";
import { Timestamp } from "../ui/timestamp.tsx";

interface JudgedTableProps {
  readonly jobs: readonly JobSummary[];
  /** Id of the run that is shown. */
  readonly shown: string | null;
  readonly onShow: (runId: string) => void;
}

/** The latest validations and optimisations with their verdicts. */
export function JudgedTable({ jobs, shown, onShow }: JudgedTableProps) {
  return (
    <table class="judgements">
      <thead>
        <tr>
          <th scope="col">Subject</th>
          <th scope="col">Verdict</th>
          <th scope="col">Wanted</th>
          <th scope="col">Submitted</th>
          <th scope="col">Result</th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <JudgedRow key={job.id} job={job} isShown={job.runId !== null && job.runId === shown} onShow={onShow} />
        ))}
      </tbody>
    </table>
  );
}

interface JudgedRowProps {
  readonly job: JobSummary;
  readonly isShown: boolean;
  readonly onShow: (runId: string) => void;
}

function JudgedRow({ job, isShown, onShow }: JudgedRowProps) {
  const { spec, runId, problem, progress, state } = job;
  const [tone, word] = judgeJob(job);
  const name = nameSpec(spec, NO_NAMES);
  return (
    <tr>
      <th scope="row" title={job.id}>
        <span class="kind">{spec.kind}</span> {name}
        <small>{describeSpec(spec)}</small>
      </th>
      <td data-label="Verdict">
        <Badge tone={tone}>{word}</Badge>
        {state === "leased" && progress !== null && <small>{describeProgress(progress)}</small>}
        <JobProblem problem={problem} />
      </td>
      <td data-label="Wanted">{describeWanted(spec)}</td>
      <td data-label="Submitted">
        <Timestamp at={job.createdAt} />
      </td>
      <td data-label="Result">
        {runId === null ? (
          <span class="muted">none</span>
        ) : (
          <button type="button" aria-pressed={isShown} onClick={() => onShow(runId)}>
            Show<span class="unseen">{` the ${spec.kind} of ${name}`}</span>
          </button>
        )}
      </td>
    </tr>
  );
}
