import { DatabaseSync } from "node:sqlite";
import type { MeasuredYear } from "./measured-year.ts";
import { SAMPLES_TABLE } from "./sample-sql.ts";

/** Stores every sample in a separate database as a row, in the order of the table. */
export function fillSamples(file: string, year: MeasuredYear): void {
  const db = new DatabaseSync(file);
  db.exec(`${SAMPLES_TABLE}; begin`);
  const insert = db.prepare("insert into samples values (?, ?, ?, ?)");
  for (const point of orderBySeries(year)) {
    const first = point * year.samplesPerPoint;
    for (let sample = first; sample < first + year.samplesPerPoint; sample++) {
      insert.run(year.no[point]!, year.atMs[point]!, sample, year.samples[sample]!);
    }
  }
  db.exec("commit; pragma optimize; pragma wal_checkpoint(truncate)");
  db.close();
}

/** The points by series, then by time. */
export function orderBySeries({ no }: MeasuredYear): Uint32Array {
  return Uint32Array.from(no.keys()).toSorted((a, b) => no[a]! - no[b]! || a - b);
}
