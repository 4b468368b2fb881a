import { useEffect, useRef } from "preact/hooks";
import type { Client } from "../client/client.ts";
import type { JobProgress, JobSpec, JobState, JobSummary } from "../protocol/job.ts";
import { Badge, type Tone } from "./badge.tsx";
import { describeRoof } from "./describe-roof.ts";
import { describeSizes, formatDuration } from "./format.ts";
import { nameSubject } from "./name-subject.ts";
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
  /** Whether somebody came for it: it is marked, and shown once. */
  readonly isPicked: boolean;
}

/** One job: what it is about, how far it is, how it ended. */
export function JobRow({ client, job, modelNames, runnerName, follow, now, isPicked }: JobRowProps) {
  const progress = useJobProgress(client, job, follow);
  const [tone, word] = STATES[job.state];
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isPicked) row.current?.scrollIntoView({ block: "center" });
  }, [isPicked]);
  return (
    <tr ref={row} aria-current={isPicked}>
      <th scope="row" title={job.id}>
        <span class="kind">{job.spec.kind}</span> {nameSpec(job.spec, modelNames)}
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

function nameSpec(spec: JobSpec, modelNames: ReadonlyMap<string, string>): string {
  if (spec.kind === "calibration") return modelNames.get(spec.modelVersionId) ?? spec.modelVersionId;
  if (spec.kind === "probe") return spec.deviceKey ?? "a device";
  if (spec.kind === "evaluation" || spec.kind === "training") return spec.environment;
  if (spec.kind === "evolution") return spec.pool.name;
  if (spec.kind === "consensus") return spec.pool?.name ?? "votes";
  if (spec.kind === "compression") return `${spec.model}@${spec.version}`;
  if (!("subject" in spec)) return spec.kernel;
  return nameSubject(spec.subject);
}

function describeSpec(spec: JobSpec): string {
  const parts = [describeEffort(spec), spec.label];
  if (spec.kind === "benchmark" || spec.kind === "throughput") parts.unshift(spec.variant);
  if (spec.kind === "benchmark" && spec.axes !== undefined) parts.splice(1, 0, describeSizes(spec.axes));
  const kernel = "shape" in spec ? spec : "subject" in spec && spec.subject.kind === "kernel" ? spec.subject : null;
  if (kernel !== null) parts.unshift(describeSizes(kernel.shape) || "default sizes", kernel.dtype);
  return parts.filter(Boolean).join(" · ");
}

function describeEffort(spec: JobSpec): string {
  if (spec.kind === "validation") return spec.scenarios.map(({ kind }) => kind).join(", ");
  if (spec.kind === "probe") return "claims";
  if (spec.kind === "tuning" || spec.kind === "optimisation") return `${formatDuration(spec.budgetMs)} budget`;
  if (spec.kind === "throughput") return `${Math.round(100 * spec.targetBusyShare)} % busy, ${spec.mode}`;
  if (spec.kind === "evaluation") return `${countMembers(spec.entrants)}, ${spec.episodes} episodes each`;
  if (spec.kind === "training") return `${spec.generations} generations`;
  if (spec.kind === "evolution") return `generation ${spec.pool.generation + 1}`;
  if (spec.kind === "consensus") return `${spec.options} options`;
  if (spec.kind === "compression") return spec.name;
  return `${spec.iterations} iterations`;
}

function countMembers(entrants: Extract<JobSpec, { kind: "evaluation" }>["entrants"]): string {
  const [only] = entrants;
  if (entrants.length === 1 && only?.members === 1) return only.name;
  const members = entrants.reduce((sum, entrant) => sum + entrant.members, 0);
  return `${members} policies`;
}

function describeDuration({ startedAt, endedAt }: JobSummary, now: number): string {
  if (startedAt === null) return "–";
  return formatDuration(Math.max(0, (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt)));
}
