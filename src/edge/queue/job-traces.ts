import { parseTraceparent, type TraceContext } from "../../telemetry/trace-context.ts";

/** The traces that jobs were submitted in, for those that are traced, in the queue object's SQLite. */
export class JobTraces {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  keep(jobId: string, traceparent: string): void {
    this.#sql.exec("insert or replace into job_traces (job_id, traceparent) values (?, ?)", jobId, traceparent);
  }

  find(jobId: string): TraceContext | null {
    const [row] = this.#sql
      .exec<{ traceparent: string }>("select traceparent from job_traces where job_id = ?", jobId)
      .toArray();
    return parseTraceparent(row?.traceparent);
  }

  /** Forgets those of jobs that are in no state any more but their last. */
  prune(): void {
    this.#sql.exec(
      "delete from job_traces where job_id not in (select id from jobs where state in ('queued', 'leased'))",
    );
  }
}
