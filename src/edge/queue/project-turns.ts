/** When each project was last given a runner, as turns that are counted, in the queue object's SQLite. */
export class ProjectTurns {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** The last turn of each project that ever had one. */
  read(): Map<string, number> {
    const rows = this.#sql.exec<{ project: string; turn: number }>("select project, turn from project_turns").toArray();
    return new Map(rows.map(({ project, turn }) => [project, turn]));
  }

  /** Gives a project the latest turn. */
  take(project: string): void {
    this.#sql.exec(
      `insert into project_turns (project, turn) select ?, coalesce(max(turn), 0) + 1 from project_turns where true
       on conflict (project) do update set turn = excluded.turn`,
      project,
    );
  }
}
