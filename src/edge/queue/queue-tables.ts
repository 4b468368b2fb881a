import type { Job } from "../../protocol/jobs/job.ts";
import { addSpan, type SpanScope, traced } from "../../telemetry/span.ts";
import { formatTraceparent, parseTraceparent, type TraceContext } from "../../telemetry/trace-context.ts";
import { ensureColumn, type ObjectMigration, type ObjectSql } from "../store/migrate-object.ts";
import { JobLog } from "./job-log.ts";
import { JobStore } from "./job-store.ts";
import { GOOD_STANDING, type Quarantine, quarantineAt, type RunnerStanding } from "./runner-standing.ts";
import { RunnerTable } from "./runner-table.ts";

/** Trace contexts of the traced jobs' submissions, in the queue object's SQLite. */
export class JobTraces {
  readonly #sql: ObjectSql;

  constructor(sql: ObjectSql) {
    this.#sql = sql;
  }

  keep(jobId: string, traceparent: string): void {
    this.#sql.exec("insert or replace into job_traces (job_id, traceparent) values (?, ?)", jobId, traceparent);
  }

  find(jobId: string): TraceContext | null {
    const [row] = this.#sql
      .exec<{ traceparent: string }>("select traceparent from job_traces where job_id = ?", jobId)
      .toArray();
    return parseTraceparent(row?.traceparent);
  }

  /** Deletes the traces of jobs that have ended. */
  prune(): void {
    this.#sql.exec(
      "delete from job_traces where job_id not in (select id from jobs where state in ('queued', 'leased'))",
    );
  }
}

/** Least time that a lease counts as, and most by which a project that had no turn goes before the others. */
const LEAST_LEASE_MS = 1_000;
/** Row of the time that the project which had the last turn had used: no project has this name. */
const CLOCK = "";

/** Times at which the turns of projects are: the least is next. */
interface TurnTimes {
  readonly turnOf: (project: string) => number;
  readonly runningMs: (project: string) => number;
}

/**
 * Turns of projects at shared runners, in the queue object's SQLite: the project whose jobs have used the least time of
 * runners is next. What one did not use while others had their turns is not owed to it. The time of a project's own
 * runners, which are nobody else's, does not count.
 * Source: Goyal, Vin and Cheng, SIGCOMM 1996 (start-time fair queueing).
 */
export class ProjectTurns {
  readonly #sql: ObjectSql;

  constructor(sql: ObjectSql) {
    this.#sql = sql;
  }

  /** Reads the time that each project has used, with its running jobs until now. */
  read(nowMs: number): TurnTimes {
    const rows = this.#sql.exec<{ project: string; stored_ms: number; running_ms: number }>(
      `select project, sum(stored_ms) as stored_ms, sum(running_ms) as running_ms from (
         select project, turn as stored_ms, 0 as running_ms from project_turns
         union all select project, 0, max(?1, ?2 - turn_at_ms) from jobs
         where state = 'leased' and turn_at_ms is not null
       ) group by project`,
      LEAST_LEASE_MS,
      nowMs,
    );
    const used = new Map(rows.toArray().map((row) => [row.project, row]));
    const earliestMs = Math.max(0, (used.get(CLOCK)?.stored_ms ?? 0) - LEAST_LEASE_MS);
    const runningMs = (project: string) => used.get(project)?.running_ms ?? 0;
    return {
      runningMs,
      turnOf: (project) => Math.max(earliestMs, (used.get(project)?.stored_ms ?? 0) + runningMs(project)),
    };
  }

  /** Gives jobs their turns at shared runners, before their leases. */
  begin(jobs: readonly { readonly id: string; readonly project: string }[], times: TurnTimes, nowMs: number): void {
    for (const project of new Set(jobs.map((job) => job.project))) {
      const atMs = times.turnOf(project);
      this.#raise(project, Math.max(0, atMs - times.runningMs(project)));
      this.#raise(CLOCK, atMs);
    }
    for (const { id } of jobs) this.#sql.exec("update jobs set turn_at_ms = ? where id = ?", nowMs, id);
  }

  #raise(project: string, turnMs: number): void {
    this.#sql.exec(
      `insert into project_turns (project, turn) values (?1, ?2)
       on conflict (project) do update set turn = max(turn, ?2)`,
      project,
      turnMs,
    );
  }

  /** Counts the time of a lease that ends, if it was a turn. */
  end(jobId: string, nowMs: number): void {
    this.#sql.exec(
      `update project_turns set turn = turn + (select max(?1, ?2 - turn_at_ms) from jobs where id = ?3)
       where project = (select project from jobs where id = ?3 and turn_at_ms is not null)`,
      LEAST_LEASE_MS,
      nowMs,
      jobId,
    );
    this.#sql.exec("update jobs set turn_at_ms = null where id = ? and turn_at_ms is not null", jobId);
  }
}

/** Migrations of the JobQueue's SQLite, in order. */
export const QUEUE_MIGRATIONS: readonly ObjectMigration[] = [
  // Tables that objects without a version may already have.
  `create table if not exists jobs (
     id text primary key, state text not null, attempt integer not null, max_attempts integer not null,
     epoch integer not null, runner_id text, lease_until_ms integer, created_at_ms integer not null,
     started_at_ms integer, ended_at_ms integer, problem text, spec text not null, kind text not null,
     profile text, idempotency_key text unique, request_hash text not null, progress text, result text
   ) strict;
   create index if not exists jobs_by_state on jobs (state, id);
   create index if not exists jobs_by_kind on jobs (state, kind, created_at_ms);
   create table if not exists events (
     seq integer primary key autoincrement, job_id text not null, at_ms integer not null, type text not null,
     attempt integer not null, progress text, detail text
   ) strict;
   create index if not exists events_of_job on events (job_id, seq);
   create table if not exists forgotten_jobs (
     state text not null, kind text not null, count integer not null, primary key (state, kind)
   ) strict;
   create table if not exists runners (
     id text primary key, capabilities text not null, online integer not null, draining integer not null
   ) strict;
   create table if not exists job_traces (job_id text primary key, traceparent text not null) strict`,
  "create table runner_standings (runner_id text primary key, standing text not null) strict",
  // Rows from before projects existed belong to the operator.
  ensureColumn("jobs", "project", "text not null default 'main'"),
  ensureColumn("runners", "project", "text not null default 'main'"),
  ensureColumn("runners", "shared", "integer not null default 0"),
  `create index if not exists jobs_of_project on jobs (project, id);
   create index if not exists jobs_waiting on jobs (state, project, id);
   create table if not exists project_turns (project text primary key, turn integer not null) strict`,
  ensureColumn("jobs", "submitted_by", "text"),
  `create index if not exists calibrations_of_version on jobs (spec->>'modelVersionId', project, id) where kind = 'calibration'`,
  // The fleet that has no runner for a waiting job: without it, each dispatch reads such a job again.
  ensureColumn("jobs", "unfit_for", "text"),
  `drop index if exists jobs_waiting;
   create index if not exists jobs_waiting_fit on jobs (state, project, id, unfit_for);
   create index if not exists jobs_by_submitter on jobs (state, project, submitted_by)`,
  ensureColumn("runners", "jobs_left", "integer"),
  // Time at which a job's lease at a shared runner began.
  ensureColumn("jobs", "turn_at_ms", "integer"),
  // Turns were numbers, and are times now.
  "delete from project_turns",
  // Results stood before other columns of their jobs. Now what lists show of one stands before its megabytes.
  `create table if not exists job_results (
     job_id text primary key, verdict text, roofline text, skipped text, result text not null
   ) strict;
   create index if not exists jobs_with_result on jobs (id) where result is not null`,
  `drop index if exists jobs_waiting_fit;
   create index if not exists jobs_to_place on jobs (spec->>'runnerId', project, id)
     where state = 'queued' and unfit_for is null`,
  // Marks of unfit jobs outlast the object's memory, so the name of the fleet does, too.
  "create table if not exists fleet (name text not null) strict",
];

type Row = { runner_id: string; standing: string };

/** Standings of runners, in the queue object's SQLite; a runner in good standing has no row. */
export class StandingTable {
  readonly #sql: ObjectSql;

  constructor(sql: ObjectSql) {
    this.#sql = sql;
  }

  find(runnerId: string): RunnerStanding {
    const [row] = this.#sql.exec<Row>("select * from runner_standings where runner_id = ?", runnerId).toArray();
    return row === undefined ? GOOD_STANDING : (JSON.parse(row.standing) as RunnerStanding);
  }

  save(runnerId: string, standing: RunnerStanding): void {
    this.#sql.exec(
      "insert or replace into runner_standings (runner_id, standing) values (?, ?)",
      runnerId,
      JSON.stringify(standing),
    );
  }

  forget(runnerId: string): void {
    this.#sql.exec("delete from runner_standings where runner_id = ?", runnerId);
  }

  /** Quarantines in force, by runner. */
  quarantines(nowMs: number): Map<string, Quarantine> {
    const rows = this.#sql.exec<Row>("select * from runner_standings").toArray();
    const held = rows.map((row) => [row.runner_id, quarantineAt(JSON.parse(row.standing), nowMs)] as const);
    return new Map(held.flatMap(([id, quarantine]) => (quarantine === null ? [] : [[id, quarantine] as const])));
  }
}

type Delivery = "sent" | "offline" | "failed";

/**
 * Offers a job within the span of its submission: one span for its wait, one for the way to the runner, which contains
 * the runner's work.
 */
export async function traceOffer(
  scope: SpanScope | null,
  { id, spec, attempt, createdAt }: Pick<Job, "id" | "spec" | "attempt" | "createdAt">,
  offer: (trace: { readonly traceparent?: string }) => Promise<Delivery>,
): Promise<Delivery> {
  const attributes = { "millrace.job": id, "millrace.job.kind": spec.kind, "millrace.attempt": attempt };
  if (scope !== null && attempt === 1) {
    addSpan(scope, { name: "queue", startMs: Date.parse(createdAt), endMs: scope.now(), attributes });
  }
  const describe = (delivery: Delivery) => (delivery === "sent" ? {} : { error: delivery });
  return traced(scope, "offer", { kind: "client", attributes, describe }, (within) =>
    offer(within === null ? {} : { traceparent: formatTraceparent(within.context) }),
  );
}

/** All tables of the queue, migrated to the current layout. */
export function openTables(sql: ObjectSql, now: () => number) {
  const store = new JobStore(sql);
  store.moveResults();
  const turns = new ProjectTurns(sql);
  return {
    store,
    runners: new RunnerTable(sql),
    standings: new StandingTable(sql),
    log: new JobLog(store, turns, now),
    traces: new JobTraces(sql),
    turns,
  };
}
