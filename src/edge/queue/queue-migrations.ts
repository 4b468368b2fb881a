import { ensureColumn, type ObjectMigration } from "../store/migrate-object.ts";

/** The layout of the JobQueue's SQLite, step by step. */
export const QUEUE_MIGRATIONS: readonly ObjectMigration[] = [
  // What objects without a version may have already.
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
  // What came before there were projects is the operator's.
  ensureColumn("jobs", "project", "text not null default 'main'"),
  ensureColumn("runners", "project", "text not null default 'main'"),
  ensureColumn("runners", "shared", "integer not null default 0"),
  `create index if not exists jobs_of_project on jobs (project, id);
   create index if not exists jobs_waiting on jobs (state, project, id);
   create table if not exists project_turns (project text primary key, turn integer not null) strict`,
  ensureColumn("jobs", "submitted_by", "text"),
];
