import type { Capabilities } from "../../protocol/hardware.ts";

type Row = { id: string; capabilities: string; online: number; draining: number };

/** A runner as the queue knows it: what it can do and whether it may be given work. */
export interface KnownRunner {
  readonly id: string;
  readonly capabilities: Capabilities;
  readonly online: boolean;
  readonly draining: boolean;
}

/** The runners that said hello, in the queue object's own SQLite. */
export class RunnerTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  save(runner: KnownRunner): void {
    this.#sql.exec(
      `insert into runners (id, capabilities, online, draining) values (?, ?, ?, ?)
       on conflict (id) do update set capabilities = excluded.capabilities, online = excluded.online, draining = excluded.draining`,
      runner.id,
      JSON.stringify(runner.capabilities),
      Number(runner.online),
      Number(runner.draining),
    );
  }

  setCapabilities(id: string, capabilities: Capabilities): void {
    this.#sql.exec("update runners set capabilities = ? where id = ?", JSON.stringify(capabilities), id);
  }

  setOnline(id: string, online: boolean): void {
    // Most say what is known: a row that does not change is not written.
    this.#sql.exec("update runners set online = ?1 where id = ?2 and online <> ?1", Number(online), id);
  }

  setDraining(id: string, draining: boolean): void {
    this.#sql.exec("update runners set draining = ? where id = ?", Number(draining), id);
  }

  forget(id: string): void {
    this.#sql.exec("delete from runners where id = ?", id);
  }

  find(id: string): KnownRunner | null {
    const [row] = this.#sql.exec<Row>("select * from runners where id = ?", id).toArray();
    return row === undefined ? null : toRunner(row);
  }

  list(): KnownRunner[] {
    return this.#sql.exec<Row>("select * from runners").toArray().map(toRunner);
  }
}

function toRunner(row: Row): KnownRunner {
  return {
    id: row.id,
    capabilities: JSON.parse(row.capabilities) as Capabilities,
    online: row.online === 1,
    draining: row.draining === 1,
  };
}
