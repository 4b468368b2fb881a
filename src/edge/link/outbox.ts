import type { SeriesKey } from "../../protocol/series.ts";
import { type Aggregate, mergeAggregates } from "../../stats/distribution.ts";
import type { RequestMeasurement } from "../history/request-measurements.ts";
import type { Measurement } from "../store/point-store.ts";

const BATCH_ROWS = 2_000;

type Row = { id: number; at_ms: number; project: string; key: string; aggregate: string; batch: number | null };

/** Measurements of requests, safe in the object's SQLite until the history has them. */
export class Outbox {
  readonly #sql: SqlStorage;
  readonly #source: string;

  /** `source` names this outbox among all that write history. */
  constructor(sql: SqlStorage, source: string) {
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

  /** What waits for the history. */
  backlog(): { rows: number; oldestAtMs: number | null } {
    const [found] = this.#sql
      .exec<{ rows: number; oldestAtMs: number | null }>(
        "select count(*) as rows, min(at_ms) as oldestAtMs from outbox",
      )
      .toArray();
    return found ?? { rows: 0, oldestAtMs: null };
  }

  /** When the oldest row is to move on, `flushMs` after it came; infinite where there is none. */
  dueAtMs(flushMs: number): number {
    const [oldest] = this.#sql.exec<{ at_ms: number }>("select at_ms from outbox order by id limit 1").toArray();
    return oldest === undefined ? Number.POSITIVE_INFINITY : oldest.at_ms + flushMs;
  }

  /**
   * The oldest rows as one measurement a series. A batch keeps its rows and its name until `done`, also
   * over an eviction: sent again after a reply was lost, it is recognised by its source id.
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
