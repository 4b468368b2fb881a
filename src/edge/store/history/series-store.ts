import { and, desc, eq, gt, isNull, isNotNull, type SQL, sql } from "drizzle-orm";
import { fingerprintIdOf } from "../../../protocol/fleet/hardware.ts";
import { createContentId } from "../../../protocol/wire/id.ts";
import { MAIN_PROJECT } from "../../../protocol/service/project.ts";
import { type Series, SeriesKey, type SeriesQuery, type SeriesSelector } from "../../../protocol/history/series.ts";
import { behindCursor, cutPage } from "../cursor.ts";
import type { Database, ProjectDatabase } from "../database.ts";
import { toInstant, toInstantOrNull } from "../../clock.ts";
import { historyState, points, series } from "../schema.ts";

/** Series in one step of filling in fingerprints, stored before the column existed. */
const FILLED_SERIES = 200;

/**
 * Id of a project's series with this key: a digest over the project and the key in a fixed order of fields. Ids of
 * `main` predate projects, and have no project in front.
 */
export async function seriesIdOf(key: SeriesKey, project: string): Promise<{ id: string; canonical: string }> {
  const canonical = JSON.stringify(SeriesKey.parse(sortKeys(key)));
  const content = project === MAIN_PROJECT ? canonical : `${project} ${canonical}`;
  return { id: await createContentId("series", content), canonical };
}

function sortKeys(key: SeriesKey): SeriesKey {
  const configuration = Object.fromEntries(Object.entries(key.configuration).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { ...key, configuration };
}

/** A series with its number in the tables of points, and whether it is muted. */
export interface StoredSeries extends SeriesKey {
  readonly no: number;
  readonly id: string;
  readonly project: string;
  readonly fingerprintId: string | null;
  readonly mutedAtMs: number | null;
}

type Row = typeof series.$inferSelect;

function toStored({ no, id, project, key, fingerprintId, mutedAtMs }: Row): StoredSeries {
  // It was checked when it was stored, by the limits of its time.
  return { no, id, project, ...(JSON.parse(key) as SeriesKey), fingerprintId, mutedAtMs };
}

/** A series with the summary of its points. */
export interface SelectedSeries extends StoredSeries {
  readonly createdAtMs: number;
  /** Count of all points ever received. */
  readonly points: number;
  readonly lastPointAtMs: number | null;
}

function toSelected(row: Row, tail: Tail | undefined): SelectedSeries {
  const lastMs = Math.max(row.lastPointAtMs ?? -Infinity, tail?.lastMs ?? -Infinity);
  return {
    ...toStored(row),
    createdAtMs: row.createdAtMs,
    points: row.points + (tail?.count ?? 0),
    lastPointAtMs: Number.isFinite(lastMs) ? lastMs : null,
  };
}

/** A series in the form of the wire. */
export function toSeries(found: SelectedSeries): Series {
  const { no: _no, project: _project, createdAtMs, lastPointAtMs, mutedAtMs, ...rest } = found;
  return {
    ...rest,
    createdAt: toInstant(createdAtMs),
    lastPointAt: toInstantOrNull(lastPointAtMs),
    mutedAt: toInstantOrNull(mutedAtMs),
  };
}

/** Points since the last rollup. */
interface Tail {
  readonly count: number;
  readonly lastMs: number;
}

/** Tails of the series whose numbers a query gives. */
function tailsOf(db: Database, numbers: SQL) {
  return (
    db
      .select({ no: points.seriesNo, count: sql<number>`count(*)`, lastMs: sql<number>`max(${points.atMs})` })
      .from(points)
      .where(
        and(
          gt(points.seq, db.select({ seq: historyState.rolledSeq }).from(historyState)),
          // The plus forces the search by `seq`: few points are not rolled up yet, a series may have many.
          sql`+${points.seriesNo} in ${numbers}`,
        ),
      )
      // Another plus: grouped by the column itself, all points would be read in the order of its index.
      .groupBy(sql`+${points.seriesNo}`)
  );
}

async function readTails(db: Database, numbers: readonly number[]): Promise<Map<number, Tail>> {
  const rows = await tailsOf(db, sql`(select value from json_each(${JSON.stringify(numbers)}))`);
  return new Map(rows.map((row) => [row.no, row]));
}

function isSeries({ project }: ProjectDatabase, id: string): SQL {
  return and(eq(series.project, project), eq(series.id, id))!;
}

export async function findStoredSeries(db: ProjectDatabase, id: string): Promise<StoredSeries | null> {
  const [row] = await db.select().from(series).where(isSeries(db, id));
  return row === undefined ? null : toStored(row);
}

/** Series of any project by their numbers, unordered. */
export async function readSeriesByNo(db: Database, numbers: readonly number[]): Promise<StoredSeries[]> {
  const rows = await db
    .select()
    .from(series)
    .where(sql`${series.no} in (select value from json_each(${JSON.stringify(numbers)}))`);
  return rows.map(toStored);
}

/** Mutes a series, or with null lets its changes alert again; a muted series keeps the time of its muting. */
export async function muteSeries(db: ProjectDatabase, id: string, mutedAtMs: number | null): Promise<void> {
  const muted = mutedAtMs === null ? null : sql`coalesce(${series.mutedAtMs}, ${mutedAtMs})`;
  await db.update(series).set({ mutedAtMs: muted }).where(isSeries(db, id));
}

/** Condition for a selector's series within the project. */
function selected({ project }: ProjectDatabase, selector: SeriesSelector): SQL {
  const inKey = (path: string, value: string | number | undefined) =>
    value === undefined ? undefined : sql`cast(${series.key} ->> ${path} as text) = ${String(value)}`;
  const configuration = Object.entries({
    variant: selector.variant,
    backend: selector.backend,
    batch: selector.batch,
    ...selector.configuration,
  });
  // The plus forces the search by id or subject: a project may have many series.
  const isNarrow = selector.series !== undefined || selector.subject !== undefined;
  return and(
    isNarrow ? sql`+${series.project} = ${project}` : eq(series.project, project),
    selector.series === undefined
      ? undefined
      : sql`${series.id} in (select value from json_each(${JSON.stringify(selector.series)}))`,
    selector.subject === undefined ? undefined : eq(series.subject, selector.subject),
    selector.subjectKind === undefined ? undefined : eq(series.subjectKind, selector.subjectKind),
    selector.metric === undefined ? undefined : eq(series.metric, selector.metric),
    selector.label === undefined ? undefined : eq(series.label, selector.label),
    selector.fingerprint === undefined ? undefined : eq(series.fingerprintId, selector.fingerprint),
    selector.software === undefined ? undefined : sql`${series.key} ->> '$.software' = ${selector.software ? 1 : 0}`,
    inKey("$.unit", selector.unit),
    inKey("$.clock", selector.clock),
    ...configuration.map(([name, value]) => inKey(`$.configuration.${JSON.stringify(name)}`, value)),
  )!;
}

export async function listSeries(
  db: ProjectDatabase,
  { cursor, limit, ...selector }: SeriesQuery,
): Promise<{ items: Series[]; nextCursor: string | null }> {
  const after = behindCursor(cursor, series.createdAtMs, series.id);
  const found = await db
    .select()
    .from(series)
    .where(and(after, selected(db, selector)))
    .orderBy(desc(series.createdAtMs), desc(series.id))
    .limit(limit + 1);
  const { rows, nextCursor } = cutPage(found, limit, (row) => [row.createdAtMs, row.id]);
  const tails = await readTails(
    db,
    rows.map((row) => row.no),
  );
  return { items: rows.map((row) => toSeries(toSelected(row, tails.get(row.no)))), nextCursor };
}

/** A selector's series, newest first; one more than `limit` shows that the list is cut. */
export async function selectSeries(
  db: ProjectDatabase,
  selector: SeriesSelector,
  limit: number,
): Promise<StoredSeries[]> {
  const rows = await db
    .select()
    .from(series)
    .where(selected(db, selector))
    .orderBy(desc(series.createdAtMs), desc(series.id))
    .limit(limit + 1);
  return rows.map(toStored);
}

/** A selector's series, and the progress of the history, as of one moment: together they identify a state of it. */
export interface Selection {
  /** Newest first; one more than the limit shows that the list is cut. */
  readonly series: readonly SelectedSeries[];
  /** Grows with every step of rolling up, and with the deletion of rollups. */
  readonly rollVersion: number;
  /** Grows with the deletion of points. */
  readonly prunedSeq: number;
}

export async function readSelection(db: ProjectDatabase, selector: SeriesSelector, limit: number): Promise<Selection> {
  const numbers = sql`(select ${series.no} from ${series} where ${selected(db, selector)})`;
  const [rows, tails, [state]] = await db.batch([
    db
      .select()
      .from(series)
      .where(selected(db, selector))
      .orderBy(desc(series.createdAtMs), desc(series.id))
      .limit(limit + 1),
    tailsOf(db, numbers),
    db.select().from(historyState),
  ]);
  const tailOf = new Map(tails.map((tail) => [tail.no, tail]));
  return {
    series: rows.map((row) => toSelected(row, tailOf.get(row.no))),
    rollVersion: state?.rollVersion ?? 0,
    prunedSeq: state?.prunedSeq ?? 0,
  };
}

/** Fills in the fingerprint id of series older than that column; returns how many. */
export async function fillFingerprints(db: Database): Promise<number> {
  const rows = await db
    .select()
    .from(series)
    .where(and(isNull(series.fingerprintId), isNotNull(sql`${series.key} ->> '$.fingerprint'`)))
    .limit(FILLED_SERIES);
  for (const { no, key } of rows) {
    const { fingerprint } = JSON.parse(key) as SeriesKey;
    if (fingerprint === null) continue;
    const fingerprintId = await fingerprintIdOf(fingerprint);
    await db.update(series).set({ fingerprintId }).where(eq(series.no, no));
  }
  return rows.length;
}
