import type { JobSpec, JobSummary } from "../../protocol/jobs/job.ts";
import { Badge } from "../ui/badges.tsx";
import { formatDuration } from "../../words/numbers.ts";
import { JobProblem } from "../ui/job-table.tsx";
import { nameSubject } from "../../words/jobs.ts";
import { describeRequirement, formatTarget, judgeJob, nameTarget, SCENARIOS } from "../../words/validation.ts";
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
  const name = "subject" in spec ? nameSubject(spec.subject) : spec.kind;
  return (
    <tr>
      <th scope="row" title={job.id}>
        <span class="kind">{spec.kind}</span> {name}
        <small>{describeEffort(spec)}</small>
      </th>
      <td data-label="Verdict">
        <Badge tone={tone}>{word}</Badge>
        {state === "leased" && progress !== null && (
          <small>{progress.total > 0 ? `${progress.phase} ${progress.done}/${progress.total}` : progress.phase}</small>
        )}
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

function describeEffort(spec: JobSpec): string {
  if (spec.kind === "validation") return spec.scenarios.map(({ kind }) => SCENARIOS[kind]).join(", ");
  return spec.kind === "optimisation" ? `${formatDuration(spec.budgetMs)} budget` : "";
}

function describeWanted(spec: JobSpec): string {
  if (spec.kind === "validation") {
    if (spec.requirementSet !== undefined) return spec.requirementSet;
    return spec.requirements.map(describeRequirement).join(", ") || "nothing";
  }
  if (spec.kind !== "optimisation") return "";
  const { targets } = spec;
  const named = (["latencyMs", "throughputPerS", "memoryBytes"] as const).flatMap((target) => {
    const wanted = targets[target];
    const sign = target === "throughputPerS" ? "≥" : "≤";
    return wanted === undefined ? [] : [`${nameTarget(target, targets)} ${sign} ${formatTarget(target, wanted)}`];
  });
  return named.join(", ") || `the best ${spec.objective}`;
}
