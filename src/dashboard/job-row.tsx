import type { Client } from "../client/client.ts";
import type { JobProgress, JobSpec, JobState, JobSummary } from "../protocol/job.ts";
import { Badge, type Tone } from "./badge.tsx";
import { describeRoof } from "./describe-roof.ts";
import { describeSizes, formatDuration } from "./format.ts";
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

function Progress({ progress: { phase, done, total, candidatesLeft } }: { progress: JobProgress }) {
  const left = candidatesLeft === undefined ? "" : `, ${candidatesLeft} left`;
  return (
    <span class="progress">
      <progress aria-label={phase} value={done} max={Math.max(1, total)} />
      <small>{total > 0 ? `${phase} ${done}/${total}${left}` : phase}</small>
    </span>
  );
}

function nameSubject(spec: JobSpec, modelNames: ReadonlyMap<string, string>): string {
  return spec.kind === "calibration" ? (modelNames.get(spec.modelVersionId) ?? spec.modelVersionId) : spec.kernel;
}

function describeSpec(spec: JobSpec): string {
  const parts = [describeEffort(spec), spec.label];
  if (spec.kind === "benchmark" || spec.kind === "throughput") parts.unshift(spec.variant);
  if (spec.kind === "benchmark" && spec.axes !== undefined) parts.splice(1, 0, describeSizes(spec.axes));
  if (spec.kind !== "calibration") parts.unshift(describeSizes(spec.shape) || "default sizes", spec.dtype);
  return parts.filter(Boolean).join(" · ");
}

function describeEffort(spec: JobSpec): string {
  if (spec.kind === "tuning") return `${formatDuration(spec.budgetMs)} budget`;
  if (spec.kind === "throughput") return `${Math.round(100 * spec.targetBusyShare)} % busy, ${spec.mode}`;
  return `${spec.iterations} iterations`;
}

function describeDuration({ startedAt, endedAt }: JobSummary, now: number): string {
  if (startedAt === null) return "–";
  return formatDuration(Math.max(0, (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt)));
}
