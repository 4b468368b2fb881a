import type { JobSummary } from "../../protocol/jobs/job.ts";
import { Badge } from "../ui/badges.tsx";
import { evaluation, nameEntrants } from "../../words/kinds/evaluation.ts";
import { judgeJob } from "../../words/kinds/registry.ts";
import { formatNumber, PAGE_NUMBERS } from "../../words/numbers.ts";
import { JobProblem } from "../ui/job-table.tsx";
import { Timestamp } from "../ui/timestamp.tsx";

interface EvaluationTableProps {
  readonly jobs: readonly JobSummary[];
  /** Id of the run that is shown. */
  readonly shown: string | null;
  readonly onShow: (runId: string) => void;
}

/** The latest evaluations: what was evaluated, and how far each is. */
export function EvaluationTable({ jobs, shown, onShow }: EvaluationTableProps) {
  return (
    <table class="judgements">
      <thead>
        <tr>
          <th scope="col">Environment</th>
          <th scope="col">Policies</th>
          <th scope="col">State</th>
          <th scope="col">Submitted</th>
          <th scope="col">Result</th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => {
          const { id, spec, runId, problem, createdAt } = job;
          if (spec.kind !== evaluation.kind) return null;
          const [tone, word] = judgeJob(job);
          return (
            <tr key={id}>
              <th scope="row" title={id}>
                {spec.environment}
                <small>{`${formatNumber(spec.episodes)} episodes each, seed ${spec.seed}`}</small>
              </th>
              <td data-label="Policies">{nameEntrants(spec, PAGE_NUMBERS)}</td>
              <td data-label="State">
                <Badge tone={tone}>{word}</Badge>
                <JobProblem problem={problem} />
              </td>
              <td data-label="Submitted">
                <Timestamp at={createdAt} />
              </td>
              <td data-label="Result">
                {runId === null ? (
                  <span class="muted">none</span>
                ) : (
                  <button type="button" aria-pressed={runId === shown} onClick={() => onShow(runId)}>
                    Show<span class="unseen">{` the evaluation in ${spec.environment}`}</span>
                  </button>
                )}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
