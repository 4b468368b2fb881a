import { and, asc, count, desc, eq, gte, inArray, isNull, lt, max, or, sql, sum } from "drizzle-orm";
import { type Series, SeriesKey, type SeriesQuery } from "../../protocol/history.ts";
import { createContentId } from "../../protocol/id.ts";
import { calibratedLevel, type PredictionCalibrationQuery } from "../../protocol/prediction-calibration.ts";
import type { Aggregate } from "../../stats/distribution.ts";
import type { ForecastSum } from "../history/add-up-forecasts.ts";
import { cutPage, decodeCursor } from "./cursor.ts";
import type { Database } from "./database.ts";
import { toInstant, toInstantOrNull } from "./instant.ts";
import { points, series } from "./schema.ts";

/** A measurement on its way into the history; `sourceId` makes storing it twice harmless. */
export interface Measurement {
  readonly key: SeriesKey;
  readonly atMs: number;
  readonly sourceId: string;
  readonly runId: string | null;
  readonly aggregate: Aggregate;
}

/** How many requests a metric was measured of in batches of so many rows, and its sum over them. */
export interface RequestTotals {
  readonly metric: string;
  /** Null where the metric is of no batch. */
  readonly batch: number | null;
  readonly count: number;
  readonly sum: number;
}

/** Totals of a model version's requests since `fromMs`, over all placements; what its calibrations measured is no request. */
export async function readRequestTotals(db: Database, subject: string, fromMs: number): Promise<RequestTotals[]> {
  const batch = sql<number | null>`${series.key} ->> '$.configuration.batch'`;
  const rows = await db
    .select({ metric: series.metric, batch, count: sum(points.count), sum: sum(points.sum) })
    .from(points)
    .innerJoin(series, eq(series.id, points.seriesId))
    .where(
      and(eq(series.subjectKind, "model"), eq(series.subject, subject), isNull(points.runId), gte(points.atMs, fromMs)),
    )
    .groupBy(series.metric, batch);
  return rows.map((row) => ({ ...row, count: Number(row.count), sum: Number(row.sum) }));
}

/** Id of the series with this key: a digest over the key in a fixed order of fields. */
export async function seriesIdOf(key: SeriesKey): Promise<{ id: string; canonical: string }> {
  const canonical = JSON.stringify(SeriesKey.parse(sortKeys(key)));
  return { id: await createContentId("series", canonical), canonical };
}

function sortKeys(key: SeriesKey): SeriesKey {
  const configuration = Object.fromEntries(Object.entries(key.configuration).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { ...key, configuration };
}

/**
 * Stores measurements, creating their series where they are new: two statements for any number of
 * points, each with one JSON parameter, in one transaction.
 */
export async function appendMeasurements(binding: D1Database, measurements: readonly Measurement[]): Promise<void> {
  if (measurements.length === 0) return;
  const rows = await Promise.all(measurements.map(async (item) => ({ ...item, ...(await seriesIdOf(item.key)) })));
  const seriesJson = JSON.stringify(
    rows.map(({ id, canonical, key }) => [id, key.subjectKind, key.subject, key.metric, canonical]),
  );
  const pointsJson = JSON.stringify(
    rows.map(({ id, atMs, sourceId, runId, aggregate: a }) => [
      id,
      atMs,
      sourceId,
      runId,
      a.count,
      a.min,
      a.max,
      a.sum,
      a.sketch,
    ]),
  );
  await binding.batch([
    binding
      .prepare(
        `insert into series (id, subject_kind, subject, metric, key, created_at_ms)
         select value->>0, value->>1, value->>2, value->>3, value->>4, ?2 from json_each(?1) where true
         on conflict do nothing`,
      )
      .bind(seriesJson, Date.now()),
    binding
      .prepare(
        `insert into points (series_id, at_ms, source_id, run_id, count, min, max, sum, sketch)
         select value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7, value->>8
         from json_each(?1) where true on conflict do nothing`,
      )
      .bind(pointsJson),
  ]);
}

function toSeries(row: typeof series.$inferSelect, tally: Tally | undefined): Series {
  return {
    id: row.id,
    ...SeriesKey.parse(JSON.parse(row.key)),
    createdAt: toInstant(row.createdAtMs),
    lastPointAt: toInstantOrNull(tally?.lastMs ?? null),
    points: tally?.count ?? 0,
  };
}

interface Tally {
  readonly count: number;
  readonly lastMs: number | null;
}

/** Number and latest time of the points of each series. */
async function tallyPoints(db: Database, seriesIds: readonly string[]): Promise<Map<string, Tally>> {
  const rows = await db
    .select({ id: points.seriesId, count: count(), lastMs: max(points.atMs) })
    .from(points)
    .where(sql`${points.seriesId} in (select value from json_each(${JSON.stringify(seriesIds)}))`)
    .groupBy(points.seriesId);
  return new Map(rows.map((row) => [row.id, row]));
}

export async function findSeries(db: Database, id: string): Promise<Series | null> {
  const [row] = await db.select().from(series).where(eq(series.id, id));
  return row === undefined ? null : toSeries(row, (await tallyPoints(db, [id])).get(id));
}

export async function listSeries(
  db: Database,
  query: SeriesQuery,
): Promise<{ items: Series[]; nextCursor: string | null }> {
  const [ms, id] = query.cursor === undefined ? [] : decodeCursor(query.cursor, 2);
  const after =
    ms === undefined || id === undefined
      ? undefined
      : or(lt(series.createdAtMs, Number(ms)), and(eq(series.createdAtMs, Number(ms)), lt(series.id, String(id))));
  const found = await db
    .select()
    .from(series)
    .where(
      and(
        after,
        query.subject === undefined ? undefined : eq(series.subject, query.subject),
        query.subjectKind === undefined ? undefined : eq(series.subjectKind, query.subjectKind),
        query.metric === undefined ? undefined : eq(series.metric, query.metric),
      ),
    )
    .orderBy(desc(series.createdAtMs), desc(series.id))
    .limit(query.limit + 1);
  const { rows, nextCursor } = cutPage(found, query.limit, (row) => [row.createdAtMs, row.id]);
  const tallies = await tallyPoints(
    db,
    rows.map((row) => row.id),
  );
  return { items: rows.map((row) => toSeries(row, tallies.get(row.id))), nextCursor };
}

export interface StoredPoint extends Aggregate {
  readonly atMs: number;
  readonly runId: string | null;
}

/** The latest points of a series in [fromMs, toMs), oldest first; one more than `limit` tells of a cut. */
export async function readPoints(
  db: Database,
  seriesId: string,
  fromMs: number,
  toMs: number,
  limit: number,
): Promise<StoredPoint[]> {
  const rows = await db
    .select()
    .from(points)
    .where(and(eq(points.seriesId, seriesId), gte(points.atMs, fromMs), lt(points.atMs, toMs)))
    .orderBy(desc(points.atMs), asc(points.sourceId))
    .limit(limit + 1);
  return rows.toReversed();
}

/**
 * Sums of what became of predictions in [fromMs, toMs), by series and step; one more than `limit` tells of
 * a cut. Added up in the database, since requests are many and steps are few.
 */
export async function readForecastSums(
  db: Database,
  { model, placement, confidence }: Pick<PredictionCalibrationQuery, "model" | "placement" | "confidence">,
  { fromMs, toMs, stepMs }: { fromMs: number; toMs: number; stepMs: number },
  limit: number,
): Promise<ForecastSum[]> {
  const of = (field: string) => sql`${series.key} ->> ${`$.configuration.${field}`}`;
  // A number is bound as a real one, by which a division leaves no whole steps.
  const step = sql`cast(${stepMs} as integer)`;
  const stepAtMs = sql<number>`(${points.atMs} / ${step}) * ${step}`;
  const rows = await db
    .select({ key: series.key, stepAtMs, count: sum(points.count), sum: sum(points.sum) })
    .from(points)
    .innerJoin(series, eq(series.id, points.seriesId))
    .where(
      and(
        eq(series.subjectKind, "model"),
        inArray(series.metric, ["inTime", "asPredicted"]),
        model === undefined ? undefined : eq(series.subject, model),
        placement === undefined ? undefined : sql`${of("placement")} = ${placement}`,
        confidence === undefined ? undefined : sql`${of("confidence")} = ${calibratedLevel(confidence)}`,
        gte(points.atMs, fromMs),
        lt(points.atMs, toMs),
      ),
    )
    .groupBy(series.id, sql`2`)
    .orderBy(sql`2 desc`, asc(series.id))
    .limit(limit + 1);
  return rows.map((row) => ({
    key: SeriesKey.parse(JSON.parse(row.key)),
    stepAtMs: row.stepAtMs,
    count: Number(row.count),
    sum: Number(row.sum),
  }));
}
