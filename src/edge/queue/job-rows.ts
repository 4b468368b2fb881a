import { type Job, type JobEvent, JobProgress, JobResult, JobSpec, JobSummary } from "../../protocol/jobs/job.ts";
import { LatestCalibration } from "../../protocol/models/model.ts";
import { Problem } from "../../protocol/wire/problem.ts";
import type { Profile } from "../../protocol/fleet/profile.ts";
import { RooflinePosition } from "../../protocol/fleet/roofline.ts";
import { toInstant, toInstantOrNull } from "../clock.ts";
import { runIdOf } from "../store/history/run-store.ts";
import type { SqlValue } from "../store/migrate-object.ts";
import type { JobRecord } from "./lease-machine.ts";

/** Row of the queue object's SQLite. */
export type Row = Record<string, SqlValue>;

/** Waiting job with the fields that decide which runner may take it. */
export interface QueuedJob {
  readonly project: string;
  readonly record: JobRecord;
  readonly spec: JobSpec;
  readonly profile: Profile | null;
}

export function toRecord(row: Row): JobRecord {
  return {
    id: text(row.id),
    state: text(row.state) as JobRecord["state"],
    attempt: Number(row.attempt),
    maxAttempts: Number(row.max_attempts),
    epoch: Number(row.epoch),
    runnerId: row.runner_id === null ? null : text(row.runner_id),
    leaseUntilMs: numberOrNull(row.lease_until_ms),
    startedAtMs: numberOrNull(row.started_at_ms),
    endedAtMs: numberOrNull(row.ended_at_ms),
    problem: row.problem === null ? null : Problem.parse(JSON.parse(text(row.problem))),
  };
}

export function toQueued(row: Row): QueuedJob {
  return {
    project: text(row.project),
    record: toRecord(row),
    spec: JobSpec.parse(JSON.parse(text(row.spec))),
    profile: row.profile === null ? null : (JSON.parse(text(row.profile)) as Profile),
  };
}

export function toListed(row: Row): JobSummary {
  const roofline = row.roofline === null ? null : RooflinePosition.nullable().parse(JSON.parse(text(row.roofline)));
  return { ...toSummary(row), roofline, verdict: JobSummary.shape.verdict.parse(row.verdict) };
}

function toSummary(row: Row): Omit<Job, "result"> {
  const record = toRecord(row);
  return {
    id: record.id,
    state: record.state,
    spec: JobSpec.parse(JSON.parse(text(row.spec))),
    attempt: record.attempt,
    maxAttempts: record.maxAttempts,
    runnerId: record.runnerId,
    runId: record.state === "succeeded" ? runIdOf(record.id) : null,
    progress: row.progress === null ? null : JobProgress.parse(JSON.parse(text(row.progress))),
    problem: record.problem,
    submittedBy: row.submitted_by === null ? null : text(row.submitted_by),
    createdAt: toInstant(Number(row.created_at_ms)),
    startedAt: toInstantOrNull(record.startedAtMs),
    endedAt: toInstantOrNull(record.endedAtMs),
  };
}

export function toJob(row: Row): Job {
  return { ...toSummary(row), result: null };
}

export function toResult(row: Row): JobResult | null {
  return row.result === null ? null : JobResult.parse(JSON.parse(text(row.result)));
}

/** A job as JSON. A result of megabytes, which was checked when it was kept, stays the bytes that it is. */
export function toBytes(row: Row): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  if (!(row.moved instanceof ArrayBuffer))
    return new Uint8Array(encoder.encode(JSON.stringify({ ...toJob(row), result: toResult(row) })));
  const head = encoder.encode(`${JSON.stringify(toSummary(row)).slice(0, -1)},"result":`);
  const bytes = new Uint8Array(head.length + row.moved.byteLength + 1);
  bytes.set(head);
  bytes.set(new Uint8Array(row.moved), head.length);
  bytes[bytes.length - 1] = "}".charCodeAt(0);
  return bytes;
}

/** A calibration as its model's placements show it; nothing of a cancelled one. Its row has what its result skipped. */
export function toLatestCalibration(row: Row): LatestCalibration[] {
  const { id, state, spec, problem, ...times } = toSummary(row);
  if (spec.kind !== "calibration" || state === "cancelled") return [];
  const isDone = state === "succeeded" || state === "failed";
  return [
    {
      jobId: id,
      runnerId: spec.runnerId ?? times.runnerId ?? "",
      modelVersionId: spec.modelVersionId,
      state: state === "failed" ? "failed" : isDone ? "done" : "waiting",
      problem: state === "failed" ? problem : null,
      skipped: row.skipped === null ? [] : LatestCalibration.shape.skipped.parse(JSON.parse(text(row.skipped))),
      at: times.endedAt ?? times.createdAt,
    },
  ];
}

export function toEvent(row: Row): JobEvent {
  return {
    seq: Number(row.seq),
    at: toInstant(Number(row.at_ms)),
    type: text(row.type) as JobEvent["type"],
    attempt: Number(row.attempt),
    progress: row.progress === null ? null : JobProgress.parse(JSON.parse(text(row.progress))),
    detail: row.detail === null ? null : text(row.detail),
  };
}

export function text(value: SqlValue | undefined): string {
  if (typeof value !== "string") throw new TypeError("the column holds no text");
  return value;
}

export function numberOrNull(value: SqlValue | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
}
