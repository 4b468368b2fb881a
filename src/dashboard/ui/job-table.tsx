import { jobEndpoints } from "../../protocol/jobs/job-endpoints.ts";
import { useEffect, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import { type Job, JobEvent, type JobProgress, type JobSummary } from "../../protocol/jobs/job.ts";
import { describeDuration, describeProgress, JOB_STATES, type JobNames } from "../../words/jobs.ts";
import { describeSpec, judgeJob, nameSpec } from "../../words/kinds/registry.ts";
import { describeRoof } from "../../words/kernels.ts";
import { WordBadge } from "./badges.tsx";
import { DataTable } from "./data-table.tsx";
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

/** Verdict of a job that judges something, or its progress. */
export function JudgedState({ job }: { job: JobSummary }) {
  const { state, progress, problem } = job;
  return (
    <>
      <WordBadge says={judgeJob(job)} />
      {state === "leased" && progress !== null && <small>{describeProgress(progress)}</small>}
      <JobProblem problem={problem} />
    </>
  );
}

/** Progress of a job: a bar, its phase and the counts. */
export function ProgressLine({ progress }: { progress: JobProgress }) {
  const { phase, done, total } = progress;
  return (
    <span class="progress">
      <progress aria-label={phase} value={done} max={Math.max(1, total)} />
      <small>{describeProgress(progress)}</small>
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

interface JobStateProps {
  readonly client: Client;
  readonly job: JobSummary;
  /** Whether to follow its progress live. */
  readonly follow: boolean;
}

/** Progress of a job, or its outcome. */
function JobState({ client, job, follow }: JobStateProps) {
  const progress = useJobProgress(client, job, follow);
  return (
    <>
      <WordBadge says={JOB_STATES[job.state]} />
      {job.state === "leased" && progress !== null && <ProgressLine progress={progress} />}
      <JobProblem problem={job.problem} />
    </>
  );
}

/** Subject of a job: its kind, name, settings, and its position under the roofline. */
function JobSubject({ job: { id, spec, roofline }, names }: { job: JobSummary; names: JobNames }) {
  return (
    <>
      <span class="kind">{spec.kind}</span>{" "}
      <a href={writeAddress({ view: "jobs", job: id })}>{nameSpec(spec, names)}</a>
      <small>{describeSpec(spec)}</small>
      {roofline?.shareOfRoof != null && <small title={roofline.note ?? undefined}>{describeRoof(roofline)}</small>}
    </>
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
    <DataTable
      class="jobs"
      rows={jobs}
      keyOf={({ id }) => id}
      columns={[
        { name: "Subject", head: true, title: ({ id }) => id, cell: (job) => <JobSubject job={job} names={names} /> },
        {
          name: "State",
          wide: true,
          cell: (job) => <JobState client={client} job={job} follow={followed.has(job.id)} />,
        },
        {
          name: "Runner",
          cell: ({ runnerId }) =>
            runnerId === null ? <span class="muted">none yet</span> : (names.runners.get(runnerId) ?? runnerId),
        },
        { name: "Attempt", cell: ({ attempt, maxAttempts }) => `${attempt} of ${maxAttempts}` },
        { name: "Submitted", cell: ({ createdAt }) => <Timestamp at={createdAt} /> },
        { name: "Duration", cell: (job) => describeDuration(job, now) },
      ]}
    />
  );
}
