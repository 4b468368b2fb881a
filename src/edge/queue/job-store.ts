import type {
  Job,
  JobEvent,
  JobListQuery,
  JobProgress,
  JobResult,
  JobSpec,
  JobState,
  JobSummary,
} from "../../protocol/jobs/job.ts";
import type { Profile } from "../../protocol/fleet/profile.ts";
import type { LatestCalibration } from "../../protocol/models/model.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { VERDICT_SQL } from "../kinds/registry.ts";
import { cutPage } from "../store/cursor.ts";
import { toInstant } from "../clock.ts";
import type { ObjectSql, SqlValue } from "../store/migrate-object.ts";
import {
  numberOrNull,
  type QueuedJob,
  type Row,
  text,
  toEvent,
  toJob,
  toLatestCalibration,
  toListed,
  toQueued,
  toRecord,
} from "./job-rows.ts";
import { JobTally } from "./job-tally.ts";
import type { JobCount } from "./queue-rpc.ts";
import type { JobRecord } from "./lease-machine.ts";

/** Waiting jobs read in one query. */
const DISPATCH_ROWS = 200;

/** New job as first written. */
export interface NewJob {
  readonly id: string;
  readonly project: string;
  /** Id of the key; null for the edge's own jobs. */
  readonly submittedBy: string | null;
  readonly spec: JobSpec;
  readonly profile: Profile | null;
  readonly idempotencyKey: string | null;
  readonly requestHash: string;
  readonly createdAtMs: number;
  readonly maxAttempts: number;
}

/** Jobs and their events, in the queue object's SQLite. */
export class JobStore {
  readonly #sql: ObjectSql;
  readonly #tally: JobTally;

  constructor(sql: ObjectSql) {
    this.#sql = sql;
    this.#tally = new JobTally(sql);
  }

  insert(job: NewJob): void {
    this.#sql.exec(
      `insert into jobs (id, project, submitted_by, state, attempt, max_attempts, epoch, created_at_ms, spec, kind,
         profile, idempotency_key, request_hash)
       values (?, ?, ?, 'queued', 0, ?, 0, ?, ?, ?, ?, ?, ?)`,
      job.id,
      job.project,
      job.submittedBy,
      job.maxAttempts,
      job.createdAtMs,
      JSON.stringify(job.spec),
      job.spec.kind,
      job.profile === null ? null : JSON.stringify(job.profile),
      job.idempotencyKey,
      job.requestHash,
    );
  }

  /** Saves a record as the lease machine returned it. */
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

  mustFindJob(id: string): Job {
    const job = this.findJob(id);
    if (job === null) throw new Error(`job ${id} is not in the queue`);
    return job;
  }

  /** Project that owns the job; null where there is no such job. */
  projectOf(id: string): string | null {
    const row = this.#first("select project from jobs where id = ?", id);
    return row === null ? null : text(row.project);
  }

  findByIdempotencyKey(key: string): { id: string; requestHash: string } | null {
    const row = this.#first("select id, request_hash from jobs where idempotency_key = ?", key);
    return row === null ? null : { id: text(row.id), requestHash: text(row.request_hash) };
  }

  list(
    project: string,
    query: JobListQuery,
    beforeId: string | null,
  ): { items: JobSummary[]; nextCursor: string | null } {
    const rows = this.#sql
      .exec(
        `select *, result->'roofline' as roofline, ${VERDICT_SQL} as verdict from jobs
         where project = ?5 and id < ?1 and (?2 is null or state = ?2) and (?3 is null or kind = ?3)
           and (?6 is null or submitted_by = ?6)
         order by id desc limit ?4`,
        beforeId ?? "~",
        query.state ?? null,
        query.kind ?? null,
        query.limit + 1,
        project,
        query.submittedBy ?? null,
      )
      .toArray();
    const cut = cutPage(rows, query.limit, (row) => [text(row.id)]);
    return { items: cut.rows.map(toListed), nextCursor: cut.nextCursor };
  }

  /**
   * Waiting jobs by project that are unpinned or pinned to one of these runners, oldest first. They are read lazily;
   * the project with the oldest job is first.
   */
  queuedFor(runnerIds: readonly string[]): Map<string, Iterable<QueuedJob>> {
    const projects = this.#sql
      .exec<{ project: string }>("select project from jobs where state = 'queued' group by 1 order by min(id)")
      .toArray();
    const ids = JSON.stringify(runnerIds);
    return new Map(projects.map(({ project }) => [project, this.#queuedOf(project, ids)]));
  }

  *#queuedOf(project: string, runnerIds: string): Generator<QueuedJob> {
    for (let afterId = ""; ;) {
      const rows = this.#sql
        .exec(
          `select * from jobs where state = 'queued' and project = ? and id > ? and (spec->>'runnerId' is null
           or spec->>'runnerId' in (select value from json_each(?))) order by id limit ?`,
          project,
          afterId,
          runnerIds,
          DISPATCH_ROWS,
        )
        .toArray();
      yield* rows.map(toQueued);
      if (rows.length < DISPATCH_ROWS) return;
      afterId = text(rows.at(-1)?.id);
    }
  }

  /** Whether a waiting job exists that this runner might get. */
  hasQueuedFor(runnerId: string): boolean {
    const waiting =
      "select 1 from jobs where state = 'queued' and (spec->>'runnerId' is null or spec->>'runnerId' = ?) limit 1";
    return this.#first(waiting, runnerId) !== null;
  }

  /** Time of a job's last lease. */
  leasedAtMs(id: string): number | null {
    const row = this.#first("select max(at_ms) as at_ms from events where job_id = ? and type = 'leased'", id);
    return numberOrNull(row?.at_ms);
  }

  /** Waiting jobs pinned to this runner, except those of project `but`. */
  queuedOnlyFor(runnerId: string, but: string | null = null): JobRecord[] {
    return this.#sql
      .exec("select * from jobs where state = 'queued' and spec->>'runnerId' = ? and project is not ?", runnerId, but)
      .toArray()
      .map(toRecord);
  }

  leased(): JobRecord[] {
    return this.#sql.exec("select * from jobs where state = 'leased'").toArray().map(toRecord);
  }

  /** Jobs that a runner leases from projects other than `but`. */
  leasedTo(runnerId: string, but: string): JobRecord[] {
    return this.#sql
      .exec("select * from jobs where state = 'leased' and runner_id = ? and project <> ?", runnerId, but)
      .toArray()
      .map(toRecord);
  }

  counts(): JobCount[] {
    return this.#tally.counts();
  }

  countQueued(): number {
    return Number(this.#first("select count(*) as n from jobs where state = 'queued'")?.n ?? 0);
  }

  countQueuedOf(project: string): number {
    return Number(
      this.#first("select count(*) as n from jobs where state = 'queued' and project = ?", project)?.n ?? 0,
    );
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

  /** The latest calibration of each of these versions on each runner, newest first. */
  latestCalibrations(project: string, modelVersionIds: readonly string[]): LatestCalibration[] {
    const rows = this.#sql.exec(
      `select jobs.* from jobs join (
         select max(id) as id from jobs where kind = 'calibration' and project = ?
         and spec->>'modelVersionId' in (select value from json_each(?))
         group by spec->>'modelVersionId', spec->>'runnerId'
       ) as latest on jobs.id = latest.id order by jobs.id desc limit ?`,
      project,
      JSON.stringify(modelVersionIds),
      LIMITS.maxPageSize,
    );
    return rows.toArray().flatMap((row) => toLatestCalibration(toJob(row)));
  }

  /** Unfinished compression of the project that is measured on this file. */
  findMeasuredOn(project: string, dataDigest: string): string | null {
    const row = this.#first(
      `select id from jobs where project = ? and kind = 'compression' and state in ('queued', 'leased')
       and spec->>'$.data.digest' = ?`,
      project,
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

  /** Events of a job after `afterSeq`, oldest first. */
  eventsAfter(jobId: string, afterSeq: number): JobEvent[] {
    return this.#sql
      .exec("select * from events where job_id = ? and seq > ? order by seq", jobId, afterSeq)
      .toArray()
      .map(toEvent);
  }

  /**
   * Deletes the oldest ended jobs beyond `keep`, except the latest `keepOwn` of each project; their runs stay in the
   * history.
   */
  prune(keep: number, keepOwn: number): void {
    const ended = `select id from (
      select id, row_number() over (order by id desc) as place,
        row_number() over (partition by project order by id desc) as own
      from jobs where ended_at_ms is not null
    ) where place > ? and own > ?`;
    this.#tally.forget(ended, keep, keepOwn);
    this.#sql.exec(`delete from events where job_id in (${ended})`, keep, keepOwn);
    this.#sql.exec(`delete from jobs where id in (${ended})`, keep, keepOwn);
  }

  #first(query: string, ...bindings: SqlValue[]): Row | null {
    return this.#sql.exec(query, ...bindings).toArray()[0] ?? null;
  }
}
