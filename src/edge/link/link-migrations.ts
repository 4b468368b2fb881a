import { ensureColumn, type ObjectMigration } from "../store/migrate-object.ts";

/** The layout of a RunnerLink's SQLite, step by step. */
export const LINK_MIGRATIONS: readonly ObjectMigration[] = [
  // What objects without a version may have already.
  `create table if not exists outbox (
     id integer primary key autoincrement, at_ms integer not null, key text not null, aggregate text not null,
     batch integer
   ) strict;
   create table if not exists health_reports (id integer primary key autoincrement, report text not null) strict;
   create table if not exists watch (name text primary key, value text not null) strict`,
  // The oldest outboxes named no batch.
  ensureColumn("outbox", "batch", "integer"),
  // What came before there were projects is the operator's.
  ensureColumn("outbox", "project", "text not null default 'main'"),
];
