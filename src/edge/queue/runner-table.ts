import type { Capabilities } from "../../protocol/hardware.ts";
import { MAIN_PROJECT } from "../../protocol/project.ts";
import { addColumn } from "../store/add-column.ts";
import type { RunnerOwner } from "../store/owner-store.ts";

const SCHEMA = `create table if not exists runners (
  id text primary key, capabilities text not null, online integer not null, draining integer not null,
  project text not null default '${MAIN_PROJECT}', shared integer not null default 0
) strict`;

type Row = {
  id: string;
  capabilities: string;
  online: number;
  draining: number;
  project: string;
  shared: number;
};

/** A runner as the queue knows it: what it can do, for whom, and whether it may be given work. */
export interface KnownRunner extends RunnerOwner {
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
    sql.exec(SCHEMA);
    addColumn(sql, "runners", "project", `text not null default '${MAIN_PROJECT}'`);
    addColumn(sql, "runners", "shared", "integer not null default 0");
  }

  save(runner: KnownRunner): void {
    this.#sql.exec(
      `insert into runners (id, capabilities, online, draining, project, shared) values (?, ?, ?, ?, ?, ?)
       on conflict (id) do update set capabilities = excluded.capabilities, online = excluded.online,
         draining = excluded.draining, project = excluded.project, shared = excluded.shared`,
      runner.id,
      JSON.stringify(runner.capabilities),
      Number(runner.online),
      Number(runner.draining),
      runner.project,
      Number(runner.shared),
    );
  }

  setCapabilities(id: string, capabilities: Capabilities): void {
    this.#sql.exec("update runners set capabilities = ? where id = ?", JSON.stringify(capabilities), id);
  }

  setOnline(id: string, online: boolean): void {
    this.#sql.exec("update runners set online = ? where id = ?", Number(online), id);
  }

  setDraining(id: string, draining: boolean): void {
    this.#sql.exec("update runners set draining = ? where id = ?", Number(draining), id);
  }

  setShared(id: string, shared: boolean): void {
    this.#sql.exec("update runners set shared = ? where id = ?", Number(shared), id);
  }

  forget(id: string): void {
    this.#sql.exec("delete from runners where id = ?", id);
  }

  list(): KnownRunner[] {
    return this.#sql.exec<Row>("select * from runners").toArray().map(toRunner);
  }

  /** Whose runner it is; null of one that never said hello. */
  findOwner(id: string): RunnerOwner | null {
    const [row] = this.#sql
      .exec<Pick<Row, "project" | "shared">>("select project, shared from runners where id = ?", id)
      .toArray();
    return row === undefined ? null : { project: row.project, shared: row.shared === 1 };
  }
}

function toRunner(row: Row): KnownRunner {
  return {
    id: row.id,
    capabilities: JSON.parse(row.capabilities) as Capabilities,
    online: row.online === 1,
    draining: row.draining === 1,
    project: row.project,
    shared: row.shared === 1,
  };
}
