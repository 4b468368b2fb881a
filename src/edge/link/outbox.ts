import type { SeriesKey } from "../../protocol/history/series.ts";
import type { DirectOutcome } from "../../protocol/inference/ticket.ts";
import { type Aggregate, mergeAggregates } from "../../stats/distribution/distribution.ts";
import type { RefusedRequest, RequestMeasurement, RequestOutcome } from "../history/request-measurements.ts";
import type { Database } from "../store/database.ts";
import { readPlacementSubjects } from "../store/fleet/placement-store.ts";
import type { Measurement } from "../store/history/point-store.ts";
import { ensureColumn, type ObjectMigration, type ObjectSql } from "../store/migrate-object.ts";

/**
 * Converts outcomes of direct requests to those of requests through the edge. A runner can report on its own placements
 * only; the database names them.
 * Outcomes of deleted placements are left out. The time of a refusal is no time of the model; an exceeded budget counts
 * as a lower bound.
 */
export async function toRequestOutcomes(
  db: Database,
  runnerId: string,
  outcomes: readonly DirectOutcome[],
): Promise<(RequestOutcome | RefusedRequest)[]> {
  const known = await readPlacementSubjects(db, runnerId, [...new Set(outcomes.map((each) => each.placementId))]);
  return outcomes.flatMap(({ placementId, rows, ownRows, totalMs, times, refusedFor }) => {
    const about = known.get(placementId);
    if (about === undefined) return [];
    const outcome = {
      ...about,
      batch: rows,
      totalMs,
      totalClock: "runner-wall" as const,
      rows: times === null ? null : (ownRows ?? 1),
      split: times,
      forecast: null,
    };
    if (refusedFor === undefined) return [outcome];
    const refusal = { project: about.project, subject: about.subject, refusedFor };
    return refusedFor === "budget-exceeded" ? [outcome, refusal] : [refusal];
  });
}

/** The layout of a RunnerLink's SQLite, step by step. */
export const LINK_MIGRATIONS: readonly ObjectMigration[] = [
  // Objects without a version may have this table already.
  `create table if not exists outbox (
     id integer primary key autoincrement, at_ms integer not null, key text not null, aggregate text not null,
     batch integer
   ) strict;
   create table if not exists health_reports (id integer primary key autoincrement, report text not null) strict;
   create table if not exists watch (name text primary key, value text not null) strict`,
  // The oldest outboxes named no batch.
  ensureColumn("outbox", "batch", "integer"),
  // Rows from before there were projects belong to the operator.
  ensureColumn("outbox", "project", "text not null default 'main'"),
  // A report overwrites the oldest: one row is written, instead of one inserted, its number, and one deleted.
  `create table if not exists recent_reports (
     slot integer primary key, number integer not null, report text not null
   ) strict;
   insert or replace into recent_reports select id % 60, id, report from health_reports order by id;
   drop table health_reports`,
];

const BATCH_ROWS = 2_000;

type Row = { id: number; at_ms: number; project: string; key: string; aggregate: string; batch: number | null };

/** Measurements of requests, kept in the object's SQLite until the history has them. */
export class Outbox {
  readonly #sql: ObjectSql;
  readonly #source: string;

  /** `source` identifies this outbox among all writers of the history. */
  constructor(sql: ObjectSql, source: string) {
    this.#sql = sql;
    this.#source = source;
  }

  add({ project, key, aggregate }: RequestMeasurement, atMs: number): void {
    this.#sql.exec(
      "insert into outbox (at_ms, project, key, aggregate) values (?, ?, ?, ?)",
      atMs,
      project,
      JSON.stringify(key),
      JSON.stringify(aggregate),
    );
  }

  get isEmpty(): boolean {
    return this.#sql.exec("select 1 from outbox limit 1").toArray().length === 0;
  }

  /** Rows that wait for the history. */
  backlog(): { rows: number; oldestAtMs: number | null } {
    const [found] = this.#sql
      .exec<{ rows: number; oldestAtMs: number | null }>(
        "select count(*) as rows, min(at_ms) as oldestAtMs from outbox",
      )
      .toArray();
    return found ?? { rows: 0, oldestAtMs: null };
  }

  /** Time at which the oldest row must move on, `flushMs` after it came; infinite without rows. */
  dueAtMs(flushMs: number): number {
    const [oldest] = this.#sql.exec<{ at_ms: number }>("select at_ms from outbox order by id limit 1").toArray();
    return oldest === undefined ? Number.POSITIVE_INFINITY : oldest.at_ms + flushMs;
  }

  /**
   * The oldest rows as one measurement a series. A batch keeps its rows and its name until `done`, also over an
   * eviction.
   * The history recognises a batch that is sent again, after a lost reply, by its source id.
   */
  takeBatch(): { measurements: Measurement[]; done: () => void } {
    const rows = this.#readBatch();
    const batch = rows[0]?.batch ?? 0;
    const bySeries = Map.groupBy(rows, ({ project, key }) => `${project} ${key}`);
    const measurements = [...bySeries.values()].map((members): Measurement => ({
      project: members[0]!.project,
      key: JSON.parse(members[0]!.key) as SeriesKey,
      atMs: members[0]!.at_ms,
      sourceId: `${this.#source}:${batch}`,
      runId: null,
      aggregate: mergeAggregates(members.map((row) => JSON.parse(row.aggregate) as Aggregate)),
    }));
    return { measurements, done: () => void this.#sql.exec("delete from outbox where batch = ?", batch) };
  }

  /** The batch that is under way, or a new one of the oldest rows, named by the first of them. */
  #readBatch(): Row[] {
    const underWay = this.#sql.exec<Row>("select * from outbox where batch is not null order by id").toArray();
    if (underWay.length > 0) return underWay;
    this.#sql.exec(
      `update outbox set batch = (select min(id) from outbox)
       where id in (select id from outbox order by id limit ?)`,
      BATCH_ROWS,
    );
    return this.#sql.exec<Row>("select * from outbox where batch is not null order by id").toArray();
  }
}
