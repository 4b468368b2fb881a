import type { SeriesKey } from "../../protocol/history.ts";
import { type Aggregate, mergeAggregates } from "../../stats/distribution.ts";
import type { Measurement } from "../store/series-store.ts";

const SCHEMA = `create table if not exists outbox (
  id integer primary key autoincrement, at_ms integer not null, key text not null, aggregate text not null
) strict;
create table if not exists outbox_batch (last integer not null) strict`;
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
   * The oldest rows as one measurement a series. The source id holds the first and last row, and where
   * a batch ends is on disk until it is done: sent again after a failure it is the same batch, whatever
   * was added meanwhile, and the history recognises it. `done` forgets the rows.
   */
  takeBatch(): { measurements: Measurement[]; done: () => void } {
    const begun = this.#sql.exec<{ last: number }>("select last from outbox_batch").toArray()[0];
    const rows = this.#sql
      .exec<{ id: number; at_ms: number; key: string; aggregate: string }>(
        "select * from outbox where id <= ? order by id limit ?",
        begun?.last ?? Number.MAX_SAFE_INTEGER,
        BATCH_ROWS,
      )
      .toArray();
    const first = rows[0]?.id ?? 0;
    const last = rows.at(-1)?.id ?? 0;
    if (begun === undefined && rows.length > 0) this.#sql.exec("insert into outbox_batch (last) values (?)", last);
    const bySeries = Map.groupBy(rows, (row) => row.key);
    const measurements = [...bySeries].map(([key, members]): Measurement => ({
      key: JSON.parse(key) as SeriesKey,
      atMs: members[0]?.at_ms ?? 0,
      sourceId: `${this.#source}:${first}-${last}`,
      runId: null,
      aggregate: mergeAggregates(members.map((row) => JSON.parse(row.aggregate) as Aggregate)),
    }));
    const done = () => {
      this.#sql.exec("delete from outbox where id <= ?", last);
      this.#sql.exec("delete from outbox_batch");
    };
    return { measurements, done };
  }
}
