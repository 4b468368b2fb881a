import { useEffect, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { jobEndpoints } from "../../protocol/jobs/job-endpoints.ts";
import { type Job, JobEvent, type JobProgress, type JobSummary } from "../../protocol/jobs/job.ts";
import { describeDuration, describeSpec, JOB_STATES, type JobNames, nameSpec } from "../../words/jobs.ts";
import { describeRoof } from "../../words/kernels.ts";
import { Badge } from "./badges.tsx";
import { writeAddress } from "./page-address.ts";
import { Timestamp, useNow } from "./timestamp.tsx";

/** Why a job did not succeed, with a link to what that means; nothing where it did or may. */
export function JobProblem({ problem }: Pick<Job, "problem">) {
  if (problem === null) return null;
  return (
    <small class="problem">
      <a href={problem.type}>{problem.title}</a>: {problem.detail}
    </small>
  );
}

/** How far a job is: a bar, its phase and the counts. */
export function ProgressLine({ progress: { phase, done, total, candidatesLeft } }: { progress: JobProgress }) {
  const left = candidatesLeft === undefined ? "" : `, ${candidatesLeft} left`;
  return (
    <span class="progress">
      <progress aria-label={phase} value={done} max={Math.max(1, total)} />
      <small>{total > 0 ? `${phase} ${done}/${total}${left}` : phase}</small>
    </span>
  );
}

/** A job's progress, from its own event stream while `follow` holds, else as the list has it. */
function useJobProgress(client: Client, job: JobSummary, follow: boolean): JobProgress | null {
  const [live, setLive] = useState<{ attempt: number; progress: JobProgress } | null>(null);
  const { id } = job;
  useEffect(() => {
    if (!follow) return;
    const abort = new AbortController();
    const read = async () => {
      const options = { params: { id }, schema: JobEvent, signal: abort.signal };
      for await (const { data } of client.stream(jobEndpoints.streamJobEvents, options)) {
        if (data.progress !== null) setLive({ attempt: data.attempt, progress: data.progress });
      }
    };
    // A stream that breaks costs smoothness only: the feed still has the list read again.
    read().catch(() => undefined);
    return () => abort.abort();
  }, [client, id, follow]);
  return live !== null && live.attempt === job.attempt ? live.progress : job.progress;
}

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
function JobRow({ client, job, modelNames, runnerName, follow, now }: JobRowProps) {
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

/** Streams that may be open at once: a browser allows six connections to one origin over HTTP/1.1. */
const FOLLOWED_JOBS = 2;

interface JobTableProps {
  readonly client: Client;
  readonly jobs: readonly JobSummary[];
  readonly names: JobNames;
}

/** Jobs, the running ones among them live. */
export function JobTable({ client, jobs, names }: JobTableProps) {
  const running = jobs.filter(({ state }) => state === "leased").map(({ id }) => id);
  const followed = new Set(running.slice(0, FOLLOWED_JOBS));
  const now = useNow(running.length > 0);
  return (
    <table class="jobs">
      <thead>
        <tr>
          <th scope="col">Subject</th>
          <th scope="col">State</th>
          <th scope="col">Runner</th>
          <th scope="col">Attempt</th>
          <th scope="col">Submitted</th>
          <th scope="col">Duration</th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <JobRow
            key={job.id}
            client={client}
            job={job}
            modelNames={names.models}
            runnerName={job.runnerId === null ? null : (names.runners.get(job.runnerId) ?? job.runnerId)}
            follow={followed.has(job.id)}
            now={now}
          />
        ))}
      </tbody>
    </table>
  );
}
