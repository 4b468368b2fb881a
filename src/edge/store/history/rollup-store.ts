import type { Aggregate } from "../../../stats/distribution/distribution.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { endTurn, takesShortTurns } from "../../turns.ts";
import { chunkRows } from "../database.ts";
import { parsePack } from "./rollup-pack.ts";

/** Widths of the rollups. */
export const FOUR_WEEKS_MS = 2_419_200_000;
export const DAY_MS = 86_400_000;
export const HOUR_MS = 3_600_000;
export const MINUTE_MS = 60_000;
/** The widest first. */
export const ROLLUP_STEPS_MS = [FOUR_WEEKS_MS, DAY_MS, HOUR_MS, MINUTE_MS] as const;
export type RollupStepMs = (typeof ROLLUP_STEPS_MS)[number];

/** Width of the rollups that hold those of a width as their parts. */
export function widerThan(stepMs: RollupStepMs): RollupStepMs | undefined {
  return ROLLUP_STEPS_MS[ROLLUP_STEPS_MS.indexOf(stepMs) - 1];
}

/** Most packs, or else rollups, of one statement. */
interface PageSize {
  readonly packs: number;
  readonly rows: number;
}

/** A longer statement would block every other reader. */
const PAGE: PageSize = { packs: 64, rows: 1_000 };
/** While this isolate infers: on one machine its thread is the database's, too. */
const SHORT_PAGE: PageSize = { packs: 12, rows: 200 };
/** Full packs of 24 hours or more with all the rollups that a query may read: a single transaction. */
const LAST_PAGE: PageSize = { packs: Math.ceil(LIMITS.historyRows / 24), rows: LIMITS.historyRows + 1 };
/** Attempts to read a span while points are rolled up, before the one by long pages. */
const TRIES = 3;

/** Part of a series: a rollup, or a point that is not rolled up yet. */
export interface Bucket extends Aggregate {
  readonly seriesNo: number;
  readonly atMs: number;
  readonly runId: string | null;
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** All of time, up to the last instant that a date can hold. */
export const ALL_TIME: Span = { fromMs: 0, toMs: 8.64e15 };

const COLUMNS = `series_no as seriesNo, at_ms as atMs, run_id as runId, count, min, max, sum, sketch`;

/** Progress of rolling up. */
interface RollState {
  readonly rolledSeq: number;
  readonly version: number;
}

/** Parts of series by series, then by time; `too-many` for more than `maxRows`. */
export type SpanRead =
  | { readonly ok: true; readonly buckets: readonly Bucket[]; readonly rowsRead: number }
  | { readonly ok: false; readonly reason: "too-many" };

/** A part of a span, in whole steps, with the width of its rollups. */
export interface Piece {
  readonly span: Span;
  readonly stepMs: RollupStepMs;
}

/** Input of one read: some series, in consecutive pieces. */
interface Question {
  /** In rising order. */
  readonly numbers: readonly number[];
  readonly pieces: readonly Piece[];
  readonly maxRows: number;
}

/**
 * All data of some series in a span: the rollups, and the points not yet rolled up, as of one moment. Read in pages, so
 * that other requests can run in between.
 */
export async function readSpan(binding: D1Database, question: Question): Promise<SpanRead> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    // Many short pages are overtaken more often.
    const read = await readPages(binding, question, attempt === 0 && takesShortTurns() ? SHORT_PAGE : PAGE);
    if (read !== null) return read;
  }
  return (await readPages(binding, question, LAST_PAGE)) ?? { ok: false, reason: "too-many" };
}

/** Null where points were rolled up between two pages: some would be missing, or counted twice. */
async function readPages(
  binding: D1Database,
  { numbers, pieces, maxRows }: Question,
  page: PageSize,
): Promise<SpanRead | null> {
  const whole = { fromMs: pieces.at(0)?.span.fromMs ?? 0, toMs: pieces.at(-1)?.span.toMs ?? 0 };
  let version: number | null = null;
  let rowsRead = 0;
  const buckets: Bucket[] = [];
  let open = pieces.map((piece) => ({
    piece,
    rest: numbers.map((no): Rest => [no, piece.span.fromMs]),
    limit: widerThan(piece.stepMs) === undefined ? page.rows : page.packs,
  }));
  while (open.length > 0) {
    const [state, ...pages]: D1Result[] = await binding.batch([
      binding.prepare("select roll_version as version from history_state"),
      ...open.map(({ piece, rest, limit }) => partsOf(binding, piece, rest, limit)),
      ...(version === null ? [tailOf(binding, numbers, whole)] : []),
    ]);
    const current: number = ((state?.results ?? []) as RollState[])[0]?.version ?? 0;
    if (version !== null && current !== version) return null;
    version = current;
    const tail = pages[open.length];
    for (const bucket of (tail?.results ?? []) as Bucket[]) buckets.push(bucket);
    rowsRead += tail?.meta.rows_read ?? 0;
    open = open.flatMap(({ piece, rest, limit }, index) => {
      const rows = (pages[index]?.results ?? []) as PartRow[];
      rowsRead += pages[index]?.meta.rows_read ?? 0;
      for (const row of rows) unpack(row, piece, buckets);
      if (rows.length < limit) return [];
      // Rollups from before packs follow each other.
      const next = rows.at(-1)?.parts === null ? page.rows : page.packs;
      return [{ piece, rest: restBehind(rest, rows.at(-1), piece), limit: next }];
    });
    if (buckets.length > maxRows) return { ok: false, reason: "too-many" };
    if (open.length > 0) await endTurn();
  }
  buckets.sort((a, b) => a.seriesNo - b.seriesNo || a.atMs - b.atMs);
  return { ok: true, buckets, rowsRead };
}

/** Unread rest of a series: all from this time on. */
type Rest = readonly [seriesNo: number, fromMs: number];

/** A wide rollup with its parts, or one rollup of the width that was asked for. */
type PartRow = Bucket & { readonly wideMs: number | null; readonly parts: string | null };

function restBehind(rest: readonly Rest[], last: PartRow | undefined, { stepMs }: Piece): Rest[] {
  if (last === undefined) return [];
  const widthMs = last.parts === null ? stepMs : (widerThan(stepMs) ?? stepMs);
  const readToMs = (last.parts === null ? last.atMs : last.wideMs!) + widthMs;
  return rest
    .filter(([no]) => no >= last.seriesNo)
    .map(([no, fromMs]) => [no, no === last.seriesNo ? readToMs : fromMs]);
}

/** Adds the parts of a row that lie in the piece. */
function unpack({ wideMs, parts, ...bucket }: PartRow, { span, stepMs }: Piece, buckets: Bucket[]): void {
  if (parts === null || wideMs === null) {
    buckets.push(bucket);
    return;
  }
  for (const part of parsePack(parts, bucket.seriesNo, wideMs, stepMs)) {
    if (part.atMs >= span.fromMs && part.atMs < span.toMs) buckets.push(part);
  }
}

/**
 * A page, series by series in the order of the list, each by time: wide rollups with their parts, and single rollups
 * where a wide one has none of them, or is as wide as any. The loops give this order, which `cross join` forces; an
 * `order by` would sort, and so read, all of it. The null ends a search before it reads a row.
 */
function partsOf(binding: D1Database, { span, stepMs }: Piece, rest: readonly Rest[], limit: number) {
  const wideMs = widerThan(stepMs);
  const [json, { toMs }] = [JSON.stringify(rest), span];
  if (wideMs === undefined) {
    return binding
      .prepare(
        `select ${COLUMNS}, null as wideMs, null as parts from json_each(?1) cross join rollups
         on series_no = value->>0 and step_ms = ?2 and at_ms >= value->>1 and at_ms < ?3 limit ?4`,
      )
      .bind(json, stepMs, toMs, limit);
  }
  return binding
    .prepare(
      `select wide.series_no as seriesNo, wide.at_ms as wideMs, wide.parts, one.at_ms as atMs, one.run_id as runId,
         one.count, one.min, one.max, one.sum, one.sketch
       from json_each(?1) cross join rollups as wide
         on wide.series_no = value->>0 and wide.step_ms = ?2 and wide.at_ms > (value->>1) - ?2 and wide.at_ms < ?4
       left join rollups as one on one.series_no = wide.series_no and one.step_ms = iif(wide.parts is null, ?3, null)
         and one.at_ms >= max(wide.at_ms, value->>1) and one.at_ms < min(wide.at_ms + ?2, ?4)
       where wide.parts <> '' or one.at_ms is not null limit ?5`,
    )
    .bind(json, wideMs, stepMs, toMs, limit);
}

/** The plus forces the search by `seq`: few points are not rolled up yet, a series may have many. */
function tailOf(binding: D1Database, numbers: readonly number[], { fromMs, toMs }: Span): D1PreparedStatement {
  return binding
    .prepare(
      `select ${COLUMNS} from points where seq > (select rolled_seq from history_state)
       and +series_no in (select value from json_each(?1)) and +at_ms >= ?2 and +at_ms < ?3`,
    )
    .bind(JSON.stringify(numbers), fromMs, toMs);
}

/** A point to roll up. */
export interface RollingPoint extends Bucket {
  readonly seq: number;
}

/** The next points after the rollups, in order of arrival. */
export async function readUnrolled(
  binding: D1Database,
  limit: number,
): Promise<{ state: RollState; points: RollingPoint[] }> {
  const [state, found] = await binding.batch([
    binding.prepare("select rolled_seq as rolledSeq, roll_version as version from history_state"),
    binding
      .prepare(
        `select seq, ${COLUMNS} from points where seq > (select rolled_seq from history_state) order by seq limit ?1`,
      )
      .bind(limit),
  ]);
  const [row = { rolledSeq: 0, version: 0 }] = (state?.results ?? []) as RollState[];
  return { state: row, points: (found?.results ?? []) as RollingPoint[] };
}

/** A rollup by its place. */
export interface Rollup extends Bucket {
  readonly stepMs: RollupStepMs;
  /** The next finer rollups within it (`rollup-pack.ts`); null where they are rows alone, stored before packs were. */
  readonly parts: string | null;
}

type RollupPlace = Pick<Rollup, "seriesNo" | "stepMs" | "atMs">;

/** The current rollups at these places. */
export function readRollupsAt(binding: D1Database, places: readonly RollupPlace[]): Promise<Rollup[]> {
  return selectAt(binding, `${COLUMNS}, step_ms as stepMs, parts`, places);
}

/** Bytes of the sketches and packs stored at these places, which the database knows without reading them. */
export function measureRollupsAt(
  binding: D1Database,
  places: readonly RollupPlace[],
): Promise<(RollupPlace & { readonly bytes: number })[]> {
  const bytes = "octet_length(sketch) + coalesce(octet_length(parts), 0) as bytes";
  return selectAt(binding, `series_no as seriesNo, step_ms as stepMs, at_ms as atMs, ${bytes}`, places);
}

async function selectAt<Row>(binding: D1Database, columns: string, places: readonly RollupPlace[]): Promise<Row[]> {
  if (places.length === 0) return [];
  const statement = binding.prepare(
    `select ${columns} from json_each(?1) join rollups
     on series_no = value->>0 and step_ms = value->>1 and at_ms = value->>2`,
  );
  const chunks = chunkRows(places.map(({ seriesNo, stepMs, atMs }) => [seriesNo, stepMs, atMs]));
  const found = await binding.batch<Row>(chunks.map((json) => statement.bind(json)));
  return found.flatMap(({ results }) => results);
}

/** Outcome of a step; `overtaken`: another step was faster, and this one changed nothing. */
export type RollOutcome = "saved" | "overtaken";

/**
 * Saves a step of rolling up, all or nothing: the rollups, the counts of the series, and its progress. It fails unless
 * `state` is still the latest, since the rollups were computed from it.
 */
export async function saveRollups(
  binding: D1Database,
  state: RollState,
  rolledSeq: number,
  rollups: readonly Rollup[],
  tallies: readonly (readonly [seriesNo: number, points: number, lastMs: number])[],
): Promise<RollOutcome> {
  const rows = rollups.map((r) => {
    return [r.seriesNo, r.stepMs, r.atMs, r.runId, r.count, r.min, r.max, r.sum, r.sketch, r.parts];
  });
  const insert = binding.prepare(
    `insert or replace into rollups (series_no, step_ms, at_ms, run_id, count, min, max, sum, sketch, parts)
     select value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7, value->>8, value->>9
     from json_each(?1)`,
  );
  const tally = binding.prepare(
    `update series set points = series.points + tallied.points,
       last_point_at_ms = max(coalesce(series.last_point_at_ms, tallied.last_ms), tallied.last_ms)
     from (select value->>0 as no, value->>1 as points, value->>2 as last_ms from json_each(?1)) as tallied
     where series.no = tallied.no`,
  );
  return saveStep(binding, state, rolledSeq, [
    ...chunkRows(rows).map((json) => insert.bind(json)),
    ...chunkRows(tallies).map((json) => tally.bind(json)),
  ]);
}

async function saveStep(
  binding: D1Database,
  state: RollState,
  rolledSeq: number,
  statements: readonly D1PreparedStatement[],
): Promise<RollOutcome> {
  // A null version aborts the transaction, since the column is not nullable.
  const advance = binding
    .prepare(`update history_state set roll_version = iif(roll_version = ?1, roll_version + 1, null), rolled_seq = ?2`)
    .bind(state.version, rolledSeq);
  try {
    await binding.batch([advance, ...statements]);
    return "saved";
  } catch (error) {
    if (String(error).includes("NOT NULL constraint failed: history_state.roll_version")) return "overtaken";
    throw error;
  }
}

/** A rollup of a day or four weeks from before packs, with the rollups that become its parts. */
export interface UnpackedRollup {
  readonly place: RollupPlace;
  readonly parts: readonly Bucket[];
}

/** Some rollups without packs, and the state in which they were read. Hours are left out: their minutes soon go. */
export async function readUnpacked(
  binding: D1Database,
  limit: number,
): Promise<{ state: RollState; rollups: UnpackedRollup[] }> {
  const unpacked = `(select series_no, step_ms, at_ms from rollups indexed by rollups_unpacked
    where parts is null and step_ms > ${HOUR_MS} limit ?1)`;
  const [state, wide, parts] = await binding.batch([
    binding.prepare("select rolled_seq as rolledSeq, roll_version as version from history_state"),
    binding.prepare(`select series_no as seriesNo, step_ms as stepMs, at_ms as atMs from ${unpacked}`).bind(limit),
    binding
      .prepare(
        `select one.series_no as seriesNo, one.at_ms as atMs, one.run_id as runId, one.count, one.min, one.max, one.sum,
           one.sketch, wide.step_ms as stepMs
         from ${unpacked} as wide join rollups as one on one.series_no = wide.series_no
           and one.step_ms = iif(wide.step_ms = ${DAY_MS}, ${HOUR_MS}, ${DAY_MS})
           and one.at_ms >= wide.at_ms and one.at_ms < wide.at_ms + wide.step_ms`,
      )
      .bind(limit),
  ]);
  const [row = { rolledSeq: 0, version: 0 }] = (state?.results ?? []) as RollState[];
  const textOf = ({ seriesNo, stepMs, atMs }: UnpackedRollup["place"]) =>
    `${seriesNo}/${stepMs}/${Math.floor(atMs / stepMs)}`;
  const byPlace = Map.groupBy((parts?.results ?? []) as (Bucket & Pick<Rollup, "stepMs">)[], textOf);
  const places = (wide?.results ?? []) as UnpackedRollup["place"][];
  return { state: row, rollups: places.map((place) => ({ place, parts: byPlace.get(textOf(place)) ?? [] })) };
}

/** Saves packs; fails like `saveRollups`. */
export async function savePacks(
  binding: D1Database,
  state: RollState,
  packs: readonly (RollupPlace & Pick<Rollup, "parts">)[],
): Promise<RollOutcome> {
  const update = binding.prepare(
    `update rollups set parts = packed.parts
     from (select value->>0 as no, value->>1 as step, value->>2 as at, value->>3 as parts from json_each(?1)) as packed
     where series_no = packed.no and step_ms = packed.step and at_ms = packed.at`,
  );
  const rows = packs.map(({ seriesNo, stepMs, atMs, parts }) => [seriesNo, stepMs, atMs, parts]);
  return saveStep(
    binding,
    state,
    state.rolledSeq,
    chunkRows(rows).map((json) => update.bind(json)),
  );
}
