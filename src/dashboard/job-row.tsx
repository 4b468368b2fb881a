import type { Client } from "../client/client.ts";
import type { JobSummary } from "../protocol/job.ts";
import { Badge } from "./badge.tsx";
import { describeRoof } from "./describe-roof.ts";
import { JobProblem } from "./job-problem.tsx";
import { describeDuration, describeSpec, JOB_STATES, nameSpec } from "./job-words.ts";
import { writeAddress } from "./page-address.ts";
import { ProgressLine } from "./progress-line.tsx";
import { Timestamp } from "./timestamp.tsx";
import { useJobProgress } from "./use-job-progress.ts";

interface JobRowProps {
  readonly client: Client;
  readonly job: JobSummary;
  readonly modelNames: ReadonlyMap<string, string>;
  readonly runnerName: string | null;
  /** Whether to follow its progress as it happens. */
  readonly follow: boolean;
  readonly now: number;
}

/** One job: what it is about, how far it is, how it ended. */
export function JobRow({ client, job, modelNames, runnerName, follow, now }: JobRowProps) {
  const progress = useJobProgress(client, job, follow);
  const [tone, word] = JOB_STATES[job.state];
  return (
    <tr>
      <th scope="row" title={job.id}>
        <span class="kind">{job.spec.kind}</span>{" "}
        <a href={writeAddress({ view: "jobs", job: job.id })}>{nameSpec(job.spec, modelNames)}</a>
        <small>{describeSpec(job.spec)}</small>
        {job.roofline?.shareOfRoof != null && (
          <small title={job.roofline.note ?? undefined}>{describeRoof(job.roofline)}</small>
        )}
      </th>
      <td data-label="State" class="wide">
        <Badge tone={tone}>{word}</Badge>
        {job.state === "leased" && progress !== null && <ProgressLine progress={progress} />}
        <JobProblem problem={job.problem} />
      </td>
      <td data-label="Runner">{runnerName ?? <span class="muted">none yet</span>}</td>
      <td data-label="Attempt">{`${job.attempt} of ${job.maxAttempts}`}</td>
      <td data-label="Submitted">
        <Timestamp at={job.createdAt} />
      </td>
      <td data-label="Duration">{describeDuration(job, now)}</td>
    </tr>
  );
}
