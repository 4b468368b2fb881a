import { z } from "zod";
import { Finding, HealthReport } from "../../../protocol/fleet/health.ts";
import type { ObjectSql } from "../../store/migrate-object.ts";
import { endShortTurn } from "../../turns.ts";
import { Expectation } from "./expectation.ts";
import { addMemorySample, MemorySample } from "./memory-sample.ts";
import type { OpenFinding } from "./watch-rule.ts";

/** Ten minutes at the default interval. */
const KEPT_REPORTS = 60;
const KEPT_MS = 1_800_000;

const OpenFindings: z.ZodType<OpenFinding[]> = z.array(z.object({ key: z.string(), finding: Finding }));
const Expected = z.object({ readAtMs: z.number(), expectations: z.array(Expectation) });
type Expected = z.infer<typeof Expected>;

/** The watch's records of a runner, in the object's SQLite: objects lose their memory between two reports. */
export class WatchLog {
  readonly #sql: ObjectSql;

  constructor(sql: ObjectSql) {
    this.#sql = sql;
  }

  /** Saves a report, dated by the edge's clock. */
  add(report: HealthReport, nowMs: number): void {
    // Ages use the runner's clock alone. Most reports add no sample.
    const before = this.memory();
    const samples = addMemorySample(before, report);
    if (samples !== before) this.#write("memory", samples);
    const kept = { ...report, at: new Date(nowMs).toISOString() };
    this.#sql.exec(
      `insert into recent_reports (slot, number, report)
       select next % ${KEPT_REPORTS}, next, ? from (select coalesce(max(number), 0) + 1 as next from recent_reports)
       where true
       on conflict (slot) do update set number = excluded.number, report = excluded.report`,
      JSON.stringify(kept),
    );
  }

  /** Deletes all records: the runner was removed. */
  clear(): void {
    this.#sql.exec("delete from recent_reports; delete from watch");
  }

  /** Recent reports as of `nowMs`, oldest first. Each is read in a turn of its own: all may have some ten megabytes. */
  async reports(nowMs: number): Promise<HealthReport[]> {
    const rows = this.#sql.exec<{ slot: number; number: number }>(
      "select slot, number from recent_reports order by number",
    );
    const reports: HealthReport[] = [];
    for (const { slot, number } of rows.toArray()) {
      // Absent where a newer report took its row meanwhile.
      const report = this.#readReport("where slot = ? and number = ?", slot, number);
      if (report !== null && Date.parse(report.at) > nowMs - KEPT_MS) reports.push(report);
      await endShortTurn();
    }
    return reports;
  }

  /** Last report, of any age. */
  latest(): HealthReport | null {
    return this.#readReport("order by number desc limit 1");
  }

  memory(): MemorySample[] {
    return this.#read("memory", z.array(MemorySample)) ?? [];
  }

  findings(): OpenFinding[] {
    return this.#read("findings", OpenFindings) ?? [];
  }

  keepFindings(findings: readonly OpenFinding[]): void {
    this.#write("findings", findings);
  }

  expected(): Expected | null {
    return this.#read("expected", Expected);
  }

  keepExpected(expected: Expected): void {
    this.#write("expected", expected);
  }

  /** A report saved by an older edge may have another schema; it is ignored. */
  #readReport(which: string, ...bindings: number[]): HealthReport | null {
    const [row] = this.#sql
      .exec<{ report: string }>(`select report from recent_reports ${which}`, ...bindings)
      .toArray();
    return row === undefined ? null : (HealthReport.safeParse(JSON.parse(row.report)).data ?? null);
  }

  #read<Value>(name: string, schema: z.ZodType<Value>): Value | null {
    const [row] = this.#sql.exec<{ value: string }>("select value from watch where name = ?", name).toArray();
    return row === undefined ? null : (schema.safeParse(JSON.parse(row.value)).data ?? null);
  }

  #write(name: string, value: unknown): void {
    this.#sql.exec(
      "insert into watch (name, value) values (?, ?) on conflict (name) do update set value = excluded.value",
      name,
      JSON.stringify(value),
    );
  }
}
