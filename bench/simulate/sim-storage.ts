import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Alarm } from "../../src/edge/clock.ts";
import type { ObjectSql, ObjectStorage, SqlValue } from "../../src/edge/store/migrate-object.ts";
import type { SimClock } from "./sim-clock.ts";

/** A Durable Object's SQLite, in memory. */
export class SimStorage implements ObjectStorage {
  readonly #database = new DatabaseSync(":memory:");
  readonly #statements = new Map<string, StatementSync>();

  readonly sql: ObjectSql = {
    exec: <Row extends Record<string, SqlValue>>(query: string, ...bindings: SqlValue[]) => {
      // Several statements at once have no bindings and return no rows.
      if (query.includes(";")) {
        this.#database.exec(query);
        return toCursor<Row>([]);
      }
      const rows = this.#prepare(query).all(...(bindings as string[])) as Row[];
      return toCursor(rows);
    },
  };

  transactionSync<Value>(work: () => Value): Value {
    this.#database.exec("begin");
    try {
      const value = work();
      this.#database.exec("commit");
      return value;
    } catch (error) {
      this.#database.exec("rollback");
      throw error;
    }
  }

  #prepare(query: string): StatementSync {
    const statement = this.#statements.get(query) ?? this.#database.prepare(query);
    this.#statements.set(query, statement);
    return statement;
  }
}

function toCursor<Row>(rows: Row[]) {
  return Object.assign(rows.values(), { toArray: () => rows });
}

/** A Durable Object's alarm on simulated time. */
export class SimAlarm implements Alarm {
  readonly #clock: SimClock;
  readonly #ring: () => void;
  #atMs: number | null = null;

  constructor(clock: SimClock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  async getAlarm(): Promise<number | null> {
    return this.#atMs;
  }

  async setAlarm(atMs: number): Promise<void> {
    this.#atMs = atMs;
    this.#clock.at(atMs, () => {
      if (this.#atMs !== atMs) return;
      this.#atMs = null;
      this.#ring();
    });
  }
}
