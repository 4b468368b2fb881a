import type { JobCount } from "./queue-rpc.ts";
import type { JobState } from "../../protocol/jobs/job.ts";
import type { ObjectSql, SqlValue } from "../store/migrate-object.ts";

/** Job counts in the queue object's SQLite, including jobs deleted since. */
export class JobTally {
  readonly #sql: ObjectSql;

  /** Requires the table of jobs. */
  constructor(sql: ObjectSql) {
    this.#sql = sql;
  }

  /** Adds the jobs that `ids` selects to the counts, before they are deleted. */
  forget(ids: string, ...bindings: SqlValue[]): void {
    this.#sql.exec(
      `insert into forgotten_jobs (state, kind, count)
       select state, kind, count(*) from jobs where id in (${ids}) group by 1, 2
       on conflict (state, kind) do update set count = forgotten_jobs.count + excluded.count`,
      ...bindings,
    );
  }

  counts(): JobCount[] {
    return this.#sql
      .exec<{ state: JobState; kind: string; project: string | null; count: number; oldestAtMs: number | null }>(
        `select state, kind, project, sum(count) as count, min(oldest_at_ms) as oldestAtMs from (
           select state, kind, project, count(*) as count, min(created_at_ms) as oldest_at_ms from jobs
             where state in ('queued', 'leased') group by 1, 2, 3
           union all select state, kind, null, count(*), null from jobs
             where state not in ('queued', 'leased') group by 1, 2
           union all select state, kind, null, count, null from forgotten_jobs
         ) group by 1, 2, 3 order by 1, 2, 3`,
      )
      .toArray();
  }
}
