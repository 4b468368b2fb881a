import type { Client } from "../client/client.ts";
import type { JobProgress, JobSpec, JobState, JobSummary } from "../protocol/job.ts";
import { Badge, type Tone } from "./badge.tsx";
import { describeRoof } from "./describe-roof.ts";
import { formatDuration } from "./format.ts";
import { Timestamp } from "./timestamp.tsx";
import { useJobProgress } from "./use-job-progress.ts";

const STATES: Record<JobState, readonly [Tone, string]> = {
  queued: ["quiet", "queued"],
  leased: ["busy", "running"],
  succeeded: ["good", "succeeded"],
  failed: ["bad", "failed"],
  cancelled: ["warn", "cancelled"],
};

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
  const [tone, word] = STATES[job.state];
  return (
    <tr>
      <th scope="row" title={job.id}>
        <span class="kind">{job.spec.kind}</span> {nameSubject(job.spec, modelNames)}
        <small>{describeSpec(job.spec)}</small>
        {job.roofline?.shareOfRoof != null && (
          <small title={job.roofline.note ?? undefined}>{describeRoof(job.roofline)}</small>
        )}
      </th>
      <td data-label="State" class="wide">
        <Badge tone={tone}>{word}</Badge>
        {job.state === "leased" && progress !== null && <Progress progress={progress} />}
        {job.problem !== null && (
          <small class="problem">
            <a href={job.problem.type}>{job.problem.title}</a>: {job.problem.detail}
          </small>
        )}
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

function Progress({ progress: { phase, done, total } }: { progress: JobProgress }) {
  return (
    <span class="progress">
      <progress aria-label={phase} value={done} max={Math.max(1, total)} />
      <small>{total > 0 ? `${phase} ${done}/${total}` : phase}</small>
    </span>
  );
}

function nameSubject(spec: JobSpec, modelNames: ReadonlyMap<string, string>): string {
  return spec.kind === "calibration" ? (modelNames.get(spec.modelVersionId) ?? spec.modelVersionId) : spec.kernel;
}

function describeSpec(spec: JobSpec): string {
  const parts = [
    spec.kind === "throughput"
      ? `${Math.round(100 * spec.targetBusyShare)} % busy, ${spec.mode}`
      : `${spec.iterations} iterations`,
  ];
  if (spec.kind !== "calibration") {
    const sizes = Object.entries(spec.shape).map(([name, size]) => `${name} ${size}`);
    parts.unshift(
      sizes.length > 0 ? sizes.join(", ") : "default sizes",
      ...(spec.dtype === undefined ? [] : [spec.dtype]),
      ...(spec.variant === undefined ? [] : [spec.variant]),
    );
  }
  if (spec.label !== undefined) parts.push(spec.label);
  return parts.join(" · ");
}

function describeDuration({ startedAt, endedAt }: JobSummary, now: number): string {
  if (startedAt === null) return "–";
  return formatDuration(Math.max(0, (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt)));
}
