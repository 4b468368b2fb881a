import { and, desc, eq, gte, lt, or } from "drizzle-orm";
import { type Fingerprint, fingerprintIdOf } from "../../../protocol/fleet/hardware.ts";
import type { SeriesKey } from "../../../protocol/history/series.ts";
import type { Aggregate } from "../../../stats/distribution/distribution.ts";
import { chunkRows, type Database, type ProjectStorage } from "../database.ts";
import { hasRoom } from "../quotas/quota-store.ts";
import { points } from "../schema.ts";
import type { Span } from "./rollup-store.ts";
import { seriesIdOf } from "./series-store.ts";

/** A measurement for the history; `sourceId` makes storing it twice harmless. */
export interface Measurement {
  /** Project of its series. */
  readonly project: string;
  readonly key: SeriesKey;
  readonly atMs: number;
  readonly sourceId: string;
  /** Null for live requests. */
  readonly runId: string | null;
  readonly revision?: string | null;
  readonly aggregate: Aggregate;
}

/**
 * Stores measurements, and creates series that are new: JSON parameters of many rows, in one transaction with `further`
 * statements. `rows` are the series of the measurements, where they are known already. Series that this isolate has
 * stored are not sent again. Where the database lacks one after all, since it was set back to an earlier time or the
 * series has aged out, the transaction fails and is repeated with all series.
 *
 * A new series for which its project has no room is not created. With `further` statements the transaction then fails
 * (`lacksSeries`); without them nobody is there to be refused, and the points of that series are left out.
 */
export async function appendMeasurements(
  binding: D1Database,
  measurements: readonly Measurement[],
  further: readonly D1PreparedStatement[] = [],
  rows?: readonly SeriesRow[],
): Promise<void> {
  if (measurements.length + further.length === 0) return;
  const series = rows ?? (await identifySeries(measurements));
  const insertSeries = binding.prepare(
    `insert into series (id, project, subject_kind, subject, metric, fingerprint_id, label, key, created_at_ms)
     select value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7, ?2
     from (
       select value, row_number() over (partition by value->>1) as place from json_each(?1) as given
       where not exists (select 1 from series where id = given.value->>0)
     ) where ${hasRoom("series", "value->>1", "place")}
     on conflict do nothing`,
  );
  const insertPoints = (join: "left join" | "join") =>
    binding.prepare(
      `insert into points (series_no, at_ms, source_id, run_id, revision, count, min, max, sum, sketch)
       select series.no, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7, value->>8,
         value->>9
       from json_each(?1) ${join} series on series.id = value->>0 where true on conflict do nothing`,
    );
  const rowsOfPoints = measurements.map(({ atMs, sourceId, runId, revision = null, aggregate: a }, index) => {
    return [series[index]?.[0], atMs, sourceId, runId, revision, a.count, a.min, a.max, a.sum, a.sketch];
  });
  const nowMs = Date.now();
  const distinct = [...new Set(series)];
  const store = (unsent: readonly SeriesRow[], join: "left join" | "join") => {
    const insert = insertPoints(join);
    return binding.batch([
      ...chunkRows(unsent).map((json) => insertSeries.bind(json, nowMs)),
      ...chunkRows(rowsOfPoints).map((json) => insert.bind(json)),
      ...further,
    ]);
  };
  const missing = distinct.filter(([id]) => !storedSeries.has(id));
  try {
    await store(missing, "left join");
  } catch (error) {
    if (!lacksSeries(error)) throw error;
    await store(distinct, further.length > 0 ? "left join" : "join");
  }
  if (storedSeries.size + missing.length > ROWS_KEPT) storedSeries.clear();
  for (const [id] of distinct) storedSeries.add(id);
}

/** Whether a transaction failed since a point's series is not there. */
export function lacksSeries(error: unknown): boolean {
  return String(error).includes("NOT NULL constraint failed: points.series_no");
}

/** A new series in the order of its columns: id, project, kind of subject, subject, metric, fingerprint, label, key. */
type SeriesRow = readonly [id: string, ...(string | null)[]];

const ROWS_KEPT = 4_000;
/** Characters of the rows that are kept: a series may have a key of kilobytes. */
const ROW_CHARACTERS_KEPT = 2 ** 22;
/** Ids of series that are stored. */
const storedSeries = new Set<string>();
/** Rows by project and key: what reports again and again reports the same series, and each id is a digest. */
const knownRows = new Map<string, SeriesRow>();
let rowCharacters = 0;

/** The series of each measurement; measurements with equal keys share a row. */
export async function identifySeries(measurements: readonly Measurement[]): Promise<SeriesRow[]> {
  const texts = measurements.map(({ project, key }) => `${project} ${JSON.stringify(key)}`);
  const distinct = new Map(measurements.map((measurement, index) => [texts[index]!, measurement]));
  const fingerprintIds = new Map<Fingerprint, Promise<string>>();
  const identify = async ([text, { key, project }]: readonly [string, Measurement]) =>
    [text, knownRows.get(text) ?? (await toSeriesRow(key, project, fingerprintIds))] as const;
  const rows = new Map(await Promise.all([...distinct].map(identify)));
  for (const [text, row] of rows) if (!knownRows.has(text)) keepRow(text, row);
  return texts.map((text) => rows.get(text)!);
}

function keepRow(text: string, row: SeriesRow): void {
  const characters = row.reduce((sum, part) => sum + (part?.length ?? 0), text.length);
  if (knownRows.size >= ROWS_KEPT || rowCharacters + characters > ROW_CHARACTERS_KEPT) {
    knownRows.clear();
    rowCharacters = 0;
  }
  knownRows.set(text, row);
  rowCharacters += characters;
}

async function toSeriesRow(
  key: SeriesKey,
  project: string,
  fingerprintIds: Map<Fingerprint, Promise<string>>,
): Promise<SeriesRow> {
  const { id, canonical } = await seriesIdOf(key, project);
  const { fingerprint, subjectKind, subject, metric, label } = key;
  if (fingerprint === null) return [id, project, subjectKind, subject, metric, null, label, canonical];
  const fingerprintId = fingerprintIds.get(fingerprint) ?? fingerprintIdOf(fingerprint);
  fingerprintIds.set(fingerprint, fingerprintId);
  return [id, project, subjectKind, subject, metric, await fingerprintId, label, canonical];
}

export interface StoredPoint extends Aggregate {
  readonly atMs: number;
  readonly runId: string | null;
  readonly revision: string | null;
}

/** A point with its number in the order of arrival. */
interface NumberedPoint extends StoredPoint {
  readonly seq: number;
}

/** Place of a point in its series: unique, and unchanged by later points. */
export type PointPlace = readonly [atMs: number, seq: number];

/**
 * Latest points of a series in [fromMs, toMs) as measured, or the latest before a place; oldest first. One more than
 * `limit` shows that the list is cut.
 */
export async function readPoints(
  db: Database,
  seriesNo: number,
  { fromMs, toMs }: { fromMs: number; toMs: number },
  limit: number,
  before?: PointPlace,
): Promise<NumberedPoint[]> {
  const rows = await db
    .select()
    .from(points)
    .where(
      and(
        eq(points.seriesNo, seriesNo),
        gte(points.atMs, fromMs),
        // The index is searched by the first bound.
        lt(points.atMs, before === undefined ? toMs : Math.min(toMs, before[0] + 1)),
        before === undefined
          ? undefined
          : or(lt(points.atMs, before[0]), and(eq(points.atMs, before[0]), lt(points.seq, before[1]))),
      ),
    )
    .orderBy(desc(points.atMs), desc(points.seq))
    .limit(limit + 1);
  return rows.toReversed();
}

/** Filter of points of runs. */
export interface RunPointFilter {
  readonly span: Span;
  readonly runId: string | null;
  readonly revision: string | null;
}

/** A point of a run. */
export interface RunPoint extends StoredPoint {
  readonly seriesNo: number;
  readonly runId: string;
}

const COLUMNS = `p.series_no as seriesNo, p.at_ms as atMs, p.run_id as runId, p.revision, p.count, p.min, p.max, p.sum,
  p.sketch`;

/** Latest points of runs of each series, newest first; one more than `limit` of a series shows that the list is cut. */
export async function readRunPoints(
  binding: D1Database,
  numbers: readonly number[],
  filter: RunPointFilter,
  limit: number,
): Promise<RunPoint[]> {
  const { span, runId, revision } = filter;
  const parameters = [JSON.stringify(numbers), span.fromMs, span.toMs, revision, limit];
  const statement =
    runId === null
      ? binding.prepare(LATEST).bind(...parameters)
      : binding.prepare(OF_RUN).bind(...parameters.slice(0, 4), runId);
  return (await statement.all<RunPoint>()).results;
}

const meant = (table: string) => `${table}.at_ms < ?3 and ${table}.run_id is not null
  and (?4 is null or ${table}.revision = ?4)`;

/** The index gives the place of the cut, so that an old series costs no more than a young one. */
const LATEST = `
  select ${COLUMNS} from json_each(?1) as wanted cross join points as p on p.series_no = wanted.value
  where p.at_ms >= max(?2, coalesce(
    (select q.at_ms from points as q where q.series_no = wanted.value and ${meant("q")}
     order by q.at_ms desc limit 1 offset ?5), ?2))
  and ${meant("p")}
  order by p.series_no, p.at_ms desc`;

const OF_RUN = `
  select ${COLUMNS} from points as p
  where p.run_id = ?5 and +p.series_no in (select value from json_each(?1)) and p.at_ms >= ?2 and ${meant("p")}
  order by p.series_no, p.at_ms desc`;

/** Ids of the series with points of a run; one more than `limit` reveals a truncation. */
export async function seriesIdsOfRun({ DB, project }: ProjectStorage, runId: string, limit: number): Promise<string[]> {
  const { results } = await DB.prepare(
    `select distinct series.id from points join series on series.no = points.series_no
       where points.run_id = ?1 and series.project = ?3 limit ?2`,
  )
    .bind(runId, limit + 1, project)
    .all<{ id: string }>();
  return results.map(({ id }) => id);
}
