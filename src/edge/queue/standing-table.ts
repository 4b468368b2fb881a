import { GOOD_STANDING, type Quarantine, quarantineAt, type RunnerStanding } from "./runner-standing.ts";

type Row = { runner_id: string; standing: string };

/** What speaks against runners, in the queue object's own SQLite; of most of them, nothing. */
export class StandingTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  find(runnerId: string): RunnerStanding {
    const [row] = this.#sql.exec<Row>("select * from runner_standings where runner_id = ?", runnerId).toArray();
    return row === undefined ? GOOD_STANDING : (JSON.parse(row.standing) as RunnerStanding);
  }

  save(runnerId: string, standing: RunnerStanding): void {
    this.#sql.exec(
      "insert or replace into runner_standings (runner_id, standing) values (?, ?)",
      runnerId,
      JSON.stringify(standing),
    );
  }

  forget(runnerId: string): void {
    this.#sql.exec("delete from runner_standings where runner_id = ?", runnerId);
  }

  /** The quarantines that hold now, by runner. */
  quarantines(nowMs: number): Map<string, Quarantine> {
    const rows = this.#sql.exec<Row>("select * from runner_standings").toArray();
    const held = rows.map((row) => [row.runner_id, quarantineAt(JSON.parse(row.standing), nowMs)] as const);
    return new Map(held.flatMap(([id, quarantine]) => (quarantine === null ? [] : [[id, quarantine] as const])));
  }
}
