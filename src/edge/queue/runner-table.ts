import type { KnownRunner } from "./queue-rpc.ts";
import type { Capabilities } from "../../protocol/fleet/hardware.ts";
import type { RunnerOwner } from "../store/project-store.ts";
import type { ObjectSql } from "../store/migrate-object.ts";

type Row = {
  id: string;
  capabilities: string;
  online: number;
  draining: number;
  project: string;
  shared: number;
};

/** Runners that have said hello, in the queue object's SQLite. */
export class RunnerTable {
  readonly #sql: ObjectSql;

  constructor(sql: ObjectSql) {
    this.#sql = sql;
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
    // Most updates change nothing: an unchanged row is not written.
    this.#sql.exec("update runners set online = ?1 where id = ?2 and online <> ?1", Number(online), id);
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

  find(id: string): KnownRunner | null {
    const [row] = this.#sql.exec<Row>("select * from runners where id = ?", id).toArray();
    return row === undefined ? null : toRunner(row);
  }

  list(): KnownRunner[] {
    return this.#sql.exec<Row>("select * from runners").toArray().map(toRunner);
  }

  /** Owner of a runner; null for one that never said hello. */
  findOwner(id: string): RunnerOwner | null {
    const found = this.find(id);
    return found === null ? null : { project: found.project, shared: found.shared };
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
