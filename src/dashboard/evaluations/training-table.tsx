import type { JobSummary } from "../../protocol/job.ts";
import { Badge } from "../badge.tsx";
import { formatNumber } from "../format.ts";
import { JobProblem } from "../job-problem.tsx";
import { Timestamp } from "../timestamp.tsx";
import { judgeJob } from "../verdict-words.ts";

interface TrainingTableProps {
  readonly jobs: readonly JobSummary[];
  /** Id of the job that is shown. */
  readonly shown: string | null;
  readonly onShow: (id: string) => void;
}

/** The latest trainings: what is learned by what, and how far each is. */
export function TrainingTable({ jobs, shown, onShow }: TrainingTableProps) {
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
          if (spec.kind !== "training") return null;
          const [tone, word] = state === "succeeded" ? (["good", "done"] as const) : judgeJob(job);
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
                {state === "leased" && progress !== null && (
                  <small>{`${progress.phase} ${progress.done}/${progress.total}`}</small>
                )}
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
