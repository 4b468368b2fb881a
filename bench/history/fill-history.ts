import { DatabaseSync } from "node:sqlite";
import { seriesIdOf } from "../../src/edge/store/history/series-store.ts";
import { fingerprintIdOf } from "../../src/protocol/fleet/hardware.ts";
import { type Aggregate, closeAggregate, mergeInto, openAggregate } from "../../src/stats/distribution/distribution.ts";
import { addToSketch, createSketch } from "../../src/stats/distribution/sketch.ts";
import { MAIN_PROJECT } from "../../src/protocol/service/project.ts";
import type { MeasuredYear } from "./measured-year.ts";

/**
 * Stores a year's points in an edge's database in order of time, like `appendMeasurements`, while no edge runs. Nothing
 * is rolled up. Returns the ids of the series.
 */
export async function fillHistory(file: string, year: MeasuredYear): Promise<string[]> {
  const ids: string[] = [];
  const db = new DatabaseSync(file);
  db.exec("begin");
  const insertSeries = db.prepare(
    `insert into series (id, project, subject_kind, subject, metric, fingerprint_id, label, key, created_at_ms)
     values (?, ?, ?, ?, ?, ?, null, ?, ?)`,
  );
  for (const { key } of year.series) {
    const { id, canonical } = await seriesIdOf(key, MAIN_PROJECT);
    const fingerprintId = key.fingerprint === null ? null : await fingerprintIdOf(key.fingerprint);
    insertSeries.run(id, MAIN_PROJECT, key.subjectKind, key.subject, key.metric, fingerprintId, canonical, Date.now());
    ids.push(id);
  }
  const insertPoint = db.prepare(
    `insert into points (series_no, at_ms, source_id, run_id, count, min, max, sum, sketch)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  for (const [point, no] of year.no.entries()) {
    const { count, min, max, sum, sketch } = aggregate(year, point);
    const source = `run_${point.toString(32).padStart(26, "0")}`;
    const runId = year.series[no - 1]!.isLive ? null : source;
    insertPoint.run(no, year.atMs[point]!, source, runId, count, min, max, sum, sketch);
  }
  db.exec("commit; pragma wal_checkpoint(truncate)");
  db.close();
  return ids;
}

function aggregate({ samples, samplesPerPoint }: MeasuredYear, point: number): Aggregate {
  const open = openAggregate();
  const values = samples.subarray(point * samplesPerPoint, (point + 1) * samplesPerPoint);
  for (const value of values) addToSketch(open.sketch, value);
  const sum = values.reduce((total, value) => total + value, 0);
  const exact = { count: values.length, min: Math.min(...values), max: Math.max(...values), sum };
  mergeInto(open, exact, createSketch());
  return closeAggregate(open);
}
