import {
  type Job,
  type JobEvent,
  type JobListQuery,
  JobProgress,
  JobResult,
  JobSpec,
  type JobState,
  JobSummary,
} from "../../protocol/job.ts";
import { Problem } from "../../protocol/problem.ts";
import type { Profile } from "../../protocol/profile.ts";
import { RooflinePosition } from "../../protocol/roofline.ts";
import { cutPage } from "../store/cursor.ts";
import { toInstant, toInstantOrNull } from "../store/instant.ts";
import { runIdOf } from "../store/run-store.ts";
import { type JobCount, JobTally } from "./job-tally.ts";
import type { JobRecord } from "./lease-machine.ts";

/** What a list tells of a result that judges; null of others, and while there is none. */
const VERDICT = `case when result is null then null
  when kind = 'validation' then result->>'verdict'
  when kind = 'optimisation' then iif(result->>'best' is null, 'fail', 'pass')
  when kind = 'probe' then iif(result->>'ok', 'pass', 'fail') end`;

/** Waiting jobs that are read at once. */
const DISPATCH_ROWS = 200;

type Row = Record<string, SqlStorageValue>;

/** A new job as it is first written. */
export interface NewJob {
  readonly id: string;
  readonly spec: JobSpec;
  readonly profile: Profile | null;
  readonly idempotencyKey: string | null;
  readonly requestHash: string;
  readonly createdAtMs: number;
  readonly maxAttempts: number;
}

/** A job that waits, with what decides who may have it. */
export interface QueuedJob {
  readonly record: JobRecord;
  readonly spec: JobSpec;
  readonly profile: Profile | null;
}

/** Jobs and their events, in the queue object's own SQLite. */
export class JobStore {
  readonly #sql: SqlStorage;
  readonly #tally: JobTally;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#tally = new JobTally(sql);
  }

  insert(job: NewJob): void {
    this.#sql.exec(
      `insert into jobs (id, state, attempt, max_attempts, epoch, created_at_ms, spec, kind, profile, idempotency_key, request_hash)
       values (?, 'queued', 0, ?, 0, ?, ?, ?, ?, ?, ?)`,
      job.id,
      job.maxAttempts,
      job.createdAtMs,
      JSON.stringify(job.spec),
      job.spec.kind,
      job.profile === null ? null : JSON.stringify(job.profile),
      job.idempotencyKey,
      job.requestHash,
    );
  }

  /** Writes what the lease machine decided. */
  save(record: JobRecord): void {
    this.#sql.exec(
      `update jobs set state = ?, attempt = ?, epoch = ?, runner_id = ?, lease_until_ms = ?, started_at_ms = ?,
       ended_at_ms = ?, problem = ? where id = ?`,
      record.state,
      record.attempt,
      record.epoch,
      record.runnerId,
      record.leaseUntilMs,
      record.startedAtMs,
      record.endedAtMs,
      record.problem === null ? null : JSON.stringify(record.problem),
      record.id,
    );
  }

  saveProgress(id: string, progress: JobProgress): void {
    this.#sql.exec("update jobs set progress = ? where id = ?", JSON.stringify(progress), id);
  }

  saveResult(id: string, result: JobResult): void {
    this.#sql.exec("update jobs set result = ? where id = ?", JSON.stringify(result), id);
  }

  findRecord(id: string): JobRecord | null {
    const row = this.#first("select * from jobs where id = ?", id);
    return row === null ? null : toRecord(row);
  }

  findJob(id: string): Job | null {
    const row = this.#first("select * from jobs where id = ?", id);
    return row === null ? null : toJob(row);
  }

  findByIdempotencyKey(key: string): { id: string; requestHash: string } | null {
    const row = this.#first("select id, request_hash from jobs where idempotency_key = ?", key);
    return row === null ? null : { id: text(row.id), requestHash: text(row.request_hash) };
  }

  list(query: JobListQuery, beforeId: string | null): { items: JobSummary[]; nextCursor: string | null } {
    const rows = this.#sql
      .exec(
        `select *, result->'roofline' as roofline, ${VERDICT} as verdict from jobs where id < ?1 and (?2 is null or state = ?2) and (?3 is null or kind = ?3)
         order by id desc limit ?4`,
        beforeId ?? "~",
        query.state ?? null,
        query.kind ?? null,
        query.limit + 1,
      )
      .toArray();
    const cut = cutPage(rows, query.limit, (row) => [text(row.id)]);
    return { items: cut.rows.map(toListed), nextCursor: cut.nextCursor };
  }

  /** The jobs that wait for anybody or for one of these runners, oldest first, read as far as they are taken. */
  *queuedFor(runnerIds: readonly string[]): Generator<QueuedJob> {
    const ids = JSON.stringify(runnerIds);
    for (let afterId = ""; ;) {
      const rows = this.#sql
        .exec(
          `select * from jobs where state = 'queued' and id > ? and (spec->>'runnerId' is null
           or spec->>'runnerId' in (select value from json_each(?))) order by id limit ?`,
          afterId,
          ids,
          DISPATCH_ROWS,
        )
        .toArray();
      yield* rows.map(toQueued);
      if (rows.length < DISPATCH_ROWS) return;
      afterId = text(rows.at(-1)?.id);
    }
  }

  /** Whether a job waits that this runner might get. */
  hasQueuedFor(runnerId: string): boolean {
    const waiting =
      "select 1 from jobs where state = 'queued' and (spec->>'runnerId' is null or spec->>'runnerId' = ?) limit 1";
    return this.#first(waiting, runnerId) !== null;
  }

  /** When the last lease of a job was given. */
  leasedAtMs(id: string): number | null {
    const row = this.#first("select max(at_ms) as at_ms from events where job_id = ? and type = 'leased'", id);
    return numberOrNull(row?.at_ms);
  }

  /** Every job that waits for this runner alone. */
  queuedOnlyFor(runnerId: string): JobRecord[] {
    return this.#sql
      .exec("select * from jobs where state = 'queued' and spec->>'runnerId' = ?", runnerId)
      .toArray()
      .map(toRecord);
  }

  leased(): JobRecord[] {
    return this.#sql.exec("select * from jobs where state = 'leased'").toArray().map(toRecord);
  }

  counts(): JobCount[] {
    return this.#tally.counts();
  }

  countQueued(): number {
    return Number(this.#first("select count(*) as n from jobs where state = 'queued'")?.n ?? 0);
  }

  findCalibration(states: readonly JobState[], runnerId: string, modelVersionId: string): string | null {
    const row = this.#first(
      `select id from jobs where kind = 'calibration' and state in (select value from json_each(?))
       and spec->>'runnerId' = ? and spec->>'modelVersionId' = ?`,
      JSON.stringify(states),
      runnerId,
      modelVersionId,
    );
    return row === null ? null : text(row.id);
  }

  /** A compression that has not ended and is measured on this file. */
  findMeasuredOn(dataDigest: string): string | null {
    const row = this.#first(
      `select id from jobs where kind = 'compression' and state in ('queued', 'leased') and spec->>'$.data.digest' = ?`,
      dataDigest,
    );
    return row === null ? null : text(row.id);
  }

  addEvent(event: Omit<JobEvent, "seq" | "at">, jobId: string, atMs: number): JobEvent {
    const row = this.#first(
      "insert into events (job_id, at_ms, type, attempt, progress, detail) values (?, ?, ?, ?, ?, ?) returning seq",
      jobId,
      atMs,
      event.type,
      event.attempt,
      event.progress === null ? null : JSON.stringify(event.progress),
      event.detail,
    );
    return { ...event, seq: Number(row?.seq), at: toInstant(atMs) };
  }

  /** Events of a job behind `afterSeq`, oldest first. */
  eventsAfter(jobId: string, afterSeq: number): JobEvent[] {
    return this.#sql
      .exec("select * from events where job_id = ? and seq > ? order by seq", jobId, afterSeq)
      .toArray()
      .map(toEvent);
  }

  /** Forgets the oldest ended jobs beyond `keep`; their runs stay in the history. */
  prune(keep: number): void {
    const ended = "select id from jobs where ended_at_ms is not null order by id desc limit -1 offset ?";
    this.#tally.forget(ended, keep);
    this.#sql.exec(`delete from events where job_id in (${ended})`, keep);
    this.#sql.exec(`delete from jobs where id in (${ended})`, keep);
  }

  #first(query: string, ...bindings: SqlStorageValue[]): Row | null {
    return this.#sql.exec(query, ...bindings).toArray()[0] ?? null;
  }
}

function toRecord(row: Row): JobRecord {
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

function toQueued(row: Row): QueuedJob {
  return {
    record: toRecord(row),
    spec: JobSpec.parse(JSON.parse(text(row.spec))),
    profile: row.profile === null ? null : (JSON.parse(text(row.profile)) as Profile),
  };
}

function toListed(row: Row): JobSummary {
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
    createdAt: toInstant(Number(row.created_at_ms)),
    startedAt: toInstantOrNull(record.startedAtMs),
    endedAt: toInstantOrNull(record.endedAtMs),
  };
}

function toJob(row: Row): Job {
  return { ...toSummary(row), result: row.result === null ? null : JobResult.parse(JSON.parse(text(row.result))) };
}

function toEvent(row: Row): JobEvent {
  return {
    seq: Number(row.seq),
    at: toInstant(Number(row.at_ms)),
    type: text(row.type) as JobEvent["type"],
    attempt: Number(row.attempt),
    progress: row.progress === null ? null : JobProgress.parse(JSON.parse(text(row.progress))),
    detail: row.detail === null ? null : text(row.detail),
  };
}

function text(value: SqlStorageValue | undefined): string {
  if (typeof value !== "string") throw new TypeError("the column holds no text");
  return value;
}

function numberOrNull(value: SqlStorageValue | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
}
