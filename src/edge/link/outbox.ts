import type { SeriesKey } from "../../protocol/history.ts";
import { type Aggregate, mergeAggregates } from "../../stats/distribution.ts";
import type { Measurement } from "../store/series-store.ts";

const SCHEMA = `create table if not exists outbox (
  id integer primary key autoincrement, at_ms integer not null, key text not null, aggregate text not null
) strict`;
const BATCH_ROWS = 2_000;

/** Measurements of requests, safe in the object's SQLite until the history has them. */
export class Outbox {
  readonly #sql: SqlStorage;
  readonly #source: string;

  /** `source` names this outbox among all that write history. */
  constructor(sql: SqlStorage, source: string) {
    this.#sql = sql;
    this.#source = source;
    sql.exec(SCHEMA);
  }

  add(key: SeriesKey, aggregate: Aggregate, atMs: number): void {
    this.#sql.exec(
      "insert into outbox (at_ms, key, aggregate) values (?, ?, ?)",
      atMs,
      JSON.stringify(key),
      JSON.stringify(aggregate),
    );
  }

  get isEmpty(): boolean {
    return this.#sql.exec("select 1 from outbox limit 1").toArray().length === 0;
  }

  /**
   * The oldest rows as one measurement a series. The source id holds the first and last row, so a
   * batch that is sent again after a failure is recognised; `done` forgets the rows.
   */
  takeBatch(): { measurements: Measurement[]; done: () => void } {
    const rows = this.#sql
      .exec<{ id: number; at_ms: number; key: string; aggregate: string }>("select * from outbox order by id limit ?", BATCH_ROWS)
      .toArray();
    const first = rows[0]?.id ?? 0;
    const last = rows.at(-1)?.id ?? 0;
    const bySeries = Map.groupBy(rows, (row) => row.key);
    const measurements = [...bySeries].map(
      ([key, members]): Measurement => ({
        key: JSON.parse(key) as SeriesKey,
        atMs: members[0]?.at_ms ?? 0,
        sourceId: `${this.#source}:${first}-${last}`,
        runId: null,
        aggregate: mergeAggregates(members.map((row) => JSON.parse(row.aggregate) as Aggregate)),
      }),
    );
    return { measurements, done: () => void this.#sql.exec("delete from outbox where id <= ?", last) };
  }
}
