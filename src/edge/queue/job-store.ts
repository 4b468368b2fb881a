import type {
  Job,
  JobEvent,
  JobListQuery,
  JobProgress,
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
import { logFailure } from "../log-failure.ts";
import type { ObjectSql, SqlValue } from "../store/migrate-object.ts";
import {
  numberOrNull,
  type QueuedJob,
  type Row,
  text,
  toBytes,
  toEvent,
  toJob,
  toLatestCalibration,
  toListed,
  toQueued,
  toRecord,
  toResult,
} from "./job-rows.ts";
import { JobTally } from "./job-tally.ts";
import type { JobCount } from "./queue-rpc.ts";
import type { JobRecord } from "./lease-machine.ts";

/** Waiting jobs read in one query. */
const DISPATCH_ROWS = 200;

/** Progress events kept of one job: beyond, one of each span of its time is left. */
export const PROGRESS_EVENTS = 2_000;
/** Progress events, on average, after which those of a job are thinned. */
const THINNED_EVERY = 64;

/** Columns of a record, and of a job without its result. */
const RECORD_COLUMNS =
  "id, state, attempt, max_attempts, epoch, runner_id, lease_until_ms, started_at_ms, ended_at_ms, problem";
const SUMMARY_COLUMNS = `${RECORD_COLUMNS}, project, submitted_by, created_at_ms, spec, progress`;
/** A job of a release before `job_results` has its result in its own row until that is moved, as after a rollback. */
const MOVED =
  "(select job_id, verdict as moved_verdict, roofline as moved_roofline, skipped as moved_skipped, result as moved from job_results)";
const JOB_WITH_RESULT = `select ${SUMMARY_COLUMNS}, result, cast(moved as blob) as moved
  from (select ${SUMMARY_COLUMNS}, result from jobs where id = ?) left join ${MOVED} on job_id = id`;
const ROOFLINE_SQL = `case when length(result->'roofline') <= ${LIMITS.announcedTextLength} then result->'roofline' end`;
/** Results that are moved in one turn: each may have megabytes. */
const MOVED_JOBS = 50;
const MOVED_CHARACTERS = 2 ** 20;

/** Waiting jobs that a runner of the fleet might take, by their index, and those of them for any or these runners. */
const TO_PLACE = "jobs indexed by jobs_to_place where state = 'queued' and unfit_for is null";
const UNPINNED = "spec->>'runnerId' is null";
const pinnedTo = (runnerIds: string) => `spec->>'runnerId' in (select value from json_each(${runnerIds}))`;

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
  /** The fleet that marks of unfit jobs are of; null before the first look. */
  #fleet: string | null = null;
  /** Jobs whose rows this release could not read. */
  readonly #unreadable = new Set<string>();

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

  /** Saves a result, as JSON, beside what lists show of it: each of them would parse its megabytes. */
  saveResult(id: string, resultText: string): void {
    this.#sql.exec(
      `insert or replace into job_results (job_id, verdict, roofline, skipped, result)
       select id, ${VERDICT_SQL}, ${ROOFLINE_SQL}, result->'skipped', result
       from (select id, kind, ?2 as result from jobs where id = ?1)`,
      id,
      resultText,
    );
  }

  /** Moves some of the results in jobs' own rows, brought to the present schema. One that cannot be read stays. */
  moveResults(): void {
    let characters = 0;
    const rows = this.#sql
      .exec<{ id: string; length: number }>(
        `select id, length(result) as length from jobs indexed by jobs_with_result
         where result is not null and id not in (select value from json_each(?)) limit ${MOVED_JOBS}`,
        JSON.stringify([...this.#unreadable]),
      )
      .toArray();
    for (const { id, length } of rows) {
      const [result = null] = this.#readEach(this.#sql.exec(JOB_WITH_RESULT, id).toArray(), toResult);
      if (result === null) continue;
      this.saveResult(id, JSON.stringify(result));
      this.#sql.exec("update jobs set result = null where id = ?", id);
      characters += length;
      if (characters >= MOVED_CHARACTERS) return;
    }
  }

  findRecord(id: string): JobRecord | null {
    const row = this.#first(`select ${RECORD_COLUMNS} from jobs where id = ?`, id);
    return row === null ? null : toRecord(row);
  }

  /** A job without its result, which may have megabytes: only `findBytes` reads it. */
  findJob(id: string): Job | null {
    const rows = this.#sql.exec(`select ${SUMMARY_COLUMNS} from jobs where id = ?`, id).toArray();
    return this.#readEach(rows, toJob)[0] ?? null;
  }

  /** A job with its result, as JSON. */
  findBytes(id: string): Uint8Array<ArrayBuffer> | null {
    return this.#readEach(this.#sql.exec(JOB_WITH_RESULT, id).toArray(), toBytes)[0] ?? null;
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
        `select ${SUMMARY_COLUMNS}, coalesce(moved_verdict, ${VERDICT_SQL}) as verdict,
           coalesce(moved_roofline, ${ROOFLINE_SQL}) as roofline
         from jobs left join ${MOVED} on job_id = id
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
    return { items: this.#readEach(cut.rows, toListed), nextCursor: cut.nextCursor };
  }

  /**
   * Waiting jobs by project that are unpinned or pinned to one of these runners, oldest first, without those that are
   * marked as unfit for this fleet. They are read lazily; the project with the oldest job is first.
   */
  queuedFor(runners: Pick<ReadonlySet<string>, "has">, fleet: string): Map<string, Iterable<QueuedJob>> {
    this.#heed(fleet);
    const ids = JSON.stringify(this.#pinnedRunners().filter((id) => runners.has(id)));
    // From project to project by the index: to go through the jobs would take a millisecond for a few thousands.
    const projects = this.#sql
      .exec<{ project: string }>(
        `with recursive unpinned (project) as (
           select min(project) from ${TO_PLACE} and ${UNPINNED}
           union all
           select (select min(project) from ${TO_PLACE} and ${UNPINNED} and project > unpinned.project)
           from unpinned where project is not null
         )
         select project from (
           select project, (
             select min(id) from ${TO_PLACE} and ${UNPINNED} and project = unpinned.project
           ) as first from unpinned where project is not null
           union all select project, min(id) from ${TO_PLACE} and ${pinnedTo("?")} group by 1
         ) group by 1 order by min(first)`,
        ids,
      )
      .toArray();
    return new Map(projects.map(({ project }) => [project, this.#queuedOf(project, ids)]));
  }

  /** Runners that waiting jobs are pinned to: mostly few, however many there are. */
  #pinnedRunners(): string[] {
    const pinned = `${TO_PLACE} and spec->>'runnerId'`;
    const rows = this.#sql.exec<{ id: string }>(
      `with recursive pinned (id) as (
         select min(spec->>'runnerId') from ${pinned} is not null
         union all
         select (select min(spec->>'runnerId') from ${pinned} > pinned.id) from pinned where id is not null
       )
       select id from pinned where id is not null`,
    );
    return rows.toArray().map(({ id }) => id);
  }

  *#queuedOf(project: string, runnerIds: string): Generator<QueuedJob> {
    const select = `select ${RECORD_COLUMNS}, project, spec, profile
      from ${TO_PLACE} and project = ?1 and id > ?2`;
    for (let afterId = ""; ;) {
      const rows = this.#sql
        .exec(
          `${select} and ${UNPINNED} union all ${select} and ${pinnedTo("?3")} order by id limit ?4`,
          project,
          afterId,
          runnerIds,
          DISPATCH_ROWS,
        )
        .toArray();
      yield* this.#readEach(rows, toQueued);
      if (rows.length < DISPATCH_ROWS) return;
      afterId = text(rows.at(-1)?.id);
    }
  }

  /** Marks a waiting job that no runner of this fleet can take: it is not read again until the fleet has changed. */
  markUnfit(id: string, fleet: string): void {
    this.#heed(fleet);
    this.#sql.exec("update jobs set unfit_for = ? where id = ?", fleet, id);
  }

  /** Takes the marks of another fleet back. */
  #heed(fleet: string): void {
    if (fleet === this.#fleet) return;
    this.#sql.exec("update jobs set unfit_for = null where state = 'queued' and unfit_for <> ?", fleet);
    this.#fleet = fleet;
  }

  /** Whether a waiting job exists that this runner of a fleet might get. */
  hasQueuedFor(runnerId: string, fleet: string): boolean {
    this.#heed(fleet);
    const waiting = `select 1 from ${TO_PLACE} and ${UNPINNED}
      union all select 1 from ${TO_PLACE} and ${pinnedTo("?")} limit 1`;
    return this.#first(waiting, JSON.stringify([runnerId])) !== null;
  }

  createdAtMs(id: string): number {
    return Number(this.#first("select created_at_ms as at_ms from jobs where id = ?", id)?.at_ms);
  }

  /** Time of a job's last lease. */
  leasedAtMs(id: string): number | null {
    const row = this.#first("select max(at_ms) as at_ms from events where job_id = ? and type = 'leased'", id);
    return numberOrNull(row?.at_ms);
  }

  /** Waiting jobs pinned to this runner, except those of project `but`. */
  queuedOnlyFor(runnerId: string, but: string | null = null): JobRecord[] {
    const pinned = `select ${RECORD_COLUMNS} from jobs
      where state = 'queued' and spec->>'runnerId' = ? and project is not ?`;
    return this.#readEach(this.#sql.exec(pinned, runnerId, but).toArray(), toRecord);
  }

  leased(): JobRecord[] {
    const rows = this.#sql.exec(`select ${RECORD_COLUMNS} from jobs where state = 'leased'`).toArray();
    return this.#readEach(rows, toRecord);
  }

  /** Jobs that a runner leases from projects other than `but`. */
  leasedTo(runnerId: string, but: string): JobRecord[] {
    const held = `select ${RECORD_COLUMNS} from jobs where state = 'leased' and runner_id = ? and project <> ?`;
    return this.#readEach(this.#sql.exec(held, runnerId, but).toArray(), toRecord);
  }

  counts(): JobCount[] {
    return this.#tally.counts();
  }

  hasQueued(): boolean {
    return this.#first("select 1 from jobs where state = 'queued' limit 1") !== null;
  }

  /** Waiting jobs of callers, of all projects. */
  countQueued(): number {
    const asked = "select count(*) as n from jobs where state = 'queued' and submitted_by is not null";
    return Number(this.#first(asked)?.n ?? 0);
  }

  /** Waiting jobs of a project's callers, or those of the edge's own for it. */
  countQueuedOf(project: string, isEdges: boolean): number {
    const own = `select count(*) as n from jobs
      where state = 'queued' and project = ? and submitted_by is ${isEdges ? "" : "not"} null`;
    return Number(this.#first(own, project)?.n ?? 0);
  }

  /** Ids of a project's jobs that wait or run, of whatever release. */
  unfinishedOf(project: string): string[] {
    return this.#sql
      .exec<{ id: string }>("select id from jobs where state in ('queued', 'leased') and project = ?", project)
      .toArray()
      .map(({ id }) => id);
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

  /** Number of jobs that this release could not read so far. */
  get unreadable(): number {
    return this.#unreadable.size;
  }

  /** The latest calibration of each of these versions on each runner, newest first. */
  latestCalibrations(project: string, modelVersionIds: readonly string[]): LatestCalibration[] {
    const rows = this.#sql.exec(
      `select ${SUMMARY_COLUMNS}, coalesce(moved_skipped, result->'skipped') as skipped from jobs join (
         select max(id) as latest_id from jobs where kind = 'calibration' and project = ?
         and spec->>'modelVersionId' in (select value from json_each(?))
         group by spec->>'modelVersionId', spec->>'runnerId'
       ) as latest on id = latest_id left join ${MOVED} on job_id = id order by id desc limit ?`,
      project,
      JSON.stringify(modelVersionIds),
      LIMITS.maxPageSize,
    );
    return this.#readEach(rows.toArray(), toLatestCalibration).flat();
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
    // To count them takes their reading.
    if (event.type === "progress" && Math.random() < 1 / THINNED_EVERY) this.#thinProgress(jobId);
    return { ...event, seq: Number(row?.seq), at: toInstant(atMs) };
  }

  /** Keeps one progress event of each of so many equal spans of time, once a job has too many of them. */
  #thinProgress(jobId: string): void {
    const ofJob = "from events where job_id = ? and type = 'progress'";
    const found = this.#first(`select count(*) as n, min(at_ms) as first, max(at_ms) as last ${ofJob}`, jobId);
    if (Number(found?.n ?? 0) < PROGRESS_EVENTS) return;
    const [firstMs, lastMs] = [Number(found?.first), Number(found?.last)];
    const latest = `select max(seq) ${ofJob} group by cast((at_ms - ?) * ? / ? as integer)`;
    const spans = PROGRESS_EVENTS / 2;
    this.#sql.exec(
      `delete from events where seq in (select seq ${ofJob}) and seq not in (${latest})`,
      jobId,
      jobId,
      firstMs,
      spans,
      lastMs - firstMs + 1,
    );
  }

  /** Events of a job after `afterSeq`, oldest first; all that there are, or so many. */
  eventsAfter(jobId: string, afterSeq: number, most = -1): JobEvent[] {
    return this.#sql
      .exec("select * from events where job_id = ? and seq > ? order by seq limit ?", jobId, afterSeq, most)
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
    for (const table of ["events", "job_results"])
      this.#sql.exec(`delete from ${table} where job_id in (${ended})`, keep, keepOwn);
    this.#sql.exec(`delete from jobs where id in (${ended})`, keep, keepOwn);
  }

  /**
   * The rows that this release can read. A row of a newer release, met after a rollback, is left as it is and logged
   * once: it must not stop the others.
   */
  #readEach<Value>(rows: readonly Row[], read: (row: Row) => Value): Value[] {
    return rows.flatMap((row) => {
      try {
        return [read(row)];
      } catch (error) {
        const id = text(row.id);
        if (!this.#unreadable.has(id)) logFailure("job-unreadable", error, { id });
        this.#unreadable.add(id);
        return [];
      }
    });
  }

  #first(query: string, ...bindings: SqlValue[]): Row | null {
    return this.#sql.exec(query, ...bindings).toArray()[0] ?? null;
  }
}
