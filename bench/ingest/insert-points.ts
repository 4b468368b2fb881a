import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { summarise } from "../../src/stats/distribution/distribution.ts";
import type { Contender } from "../contest.ts";
import { startD1 } from "../history/start-d1.ts";
import { ROOT } from "../hop/start-stack.ts";
import { SERIES } from "./point-batches.ts";
import { timeBatches } from "./time-batches.ts";

const INSERT_SERIES = `insert into series (no, id, subject_kind, subject, metric, key, created_at_ms)
  values (?1, 'series-' || ?1, 'benchmark', 'subject-' || ?1, 'wallMs', '{}', 0)`;
const INSERT_POINT = `insert into points (series_no, at_ms, source_id, run_id, count, min, max, sum, sketch)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/**
 * One insert for each point into the product's own tables, by a Worker with prepared points: neither checked nor
 * summarised, and their series exist. Each insert is awaited, or all of a batch are one transaction.
 */
export function insertPoints(atOnce: boolean): Contender<number> {
  return async (size) => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-insert-"));
    const host = await startD1(folder, join(ROOT, "migrations"));
    const series = Array.from({ length: SERIES }, (_, index) => [index + 1]);
    await host.run({ sql: INSERT_SERIES, rows: series, atOnce: true });
    return timeBatches(
      {
        file: host.file,
        async store(index, batch) {
          const source = `run_${String(index).padStart(26, "0")}`;
          const rows = batch.map((point) => {
            const { count, min, max, sum, sketch } = summarise([point.value]);
            return [point.series + 1, point.atMs, source, source, count, min, max, sum, sketch];
          });
          await host.run({ sql: INSERT_POINT, rows, atOnce });
        },
        async close() {
          await host.stop();
          await rm(folder, { recursive: true, force: true });
        },
      },
      size,
    );
  };
}
