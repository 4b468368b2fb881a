import type { SeriesKey } from "../../../protocol/history/series.ts";
import { calibratedLevel, type PredictionCalibrationQuery } from "../../../protocol/history/prediction-calibration.ts";
import type { ProjectStorage } from "../database.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, ROLLUP_STEPS_MS, type Span } from "./rollup-store.ts";

/** Number of requests measured for a metric of a subject, and the sum over them. */
export interface RequestTotals {
  readonly subject: string;
  readonly metric: string;
  readonly count: number;
  readonly sum: number;
}

/** Sums of one metric of predictions over one step. */
export interface ForecastSum {
  readonly key: SeriesKey;
  readonly stepAtMs: number;
  readonly count: number;
  readonly sum: number;
}

/**
 * Counts and sums of the series that `of` selects, in [?2, ?3): rollups of the width ?1 and points not rolled up yet,
 * or, where ?1 is null, the points as measured.
 */
function partsOf(of: string, isRolledUp: boolean): string {
  if (!isRolledUp) {
    return `select series_no, at_ms, count, sum from points
      where ?1 is null and series_no in (${of}) and at_ms >= ?2 and at_ms < ?3`;
  }
  // The plus forces the search by `seq`: few points are not rolled up yet, a series may have many.
  return `
    select series_no, at_ms, count, sum from rollups
    where series_no in (${of}) and step_ms = ?1 and at_ms >= ?2 and at_ms < ?3
    union all
    select series_no, minute_ms, count, sum from (${minutesOf(of)}) where minute_ms >= ?2 and minute_ms < ?3
    union all
    select series_no, at_ms, count, sum from points
    where seq > (select rolled_seq from history_state)
      and +series_no in (${of}) and +at_ms >= ?2 and +at_ms < ?3`;
}

/** Minutes are parts of hours (see `rollup-pack.ts`); a cast ends at the comma behind a number. None where ?1 is wider. */
function minutesOf(of: string): string {
  return `
    select series_no, at_ms + cast(entry as integer) * ${MINUTE_MS} as minute_ms, cast(rest as integer) as count,
      cast(substr(rest, instr(rest, ',') + 1) as real) as sum
    from (select series_no, at_ms, value as entry, substr(value, instr(value, ',') + 1) as rest
      from rollups join json_each('["' || replace(parts, ';', '","') || '"]')
      where ?1 = ${MINUTE_MS} and series_no in (${of}) and step_ms = ${HOUR_MS} and at_ms > ?2 - ${HOUR_MS} and at_ms < ?3
        and parts <> '')`;
}

/** Totals of the requests for model versions of the UTC day that begins at `dayMs`, over all placements. */
export async function readRequestTotals(
  { DB, project }: ProjectStorage,
  subjects: readonly string[],
  dayMs: number,
): Promise<RequestTotals[]> {
  const chosen = `select no from series
    where project = ?5 and subject_kind = 'model' and subject in (select value from json_each(?4))`;
  const { results } = await DB.prepare(
    `select subject, metric, sum(count) as count, sum(sum) as sum
       from (${partsOf(chosen, true)}) join series on no = series_no group by 1, 2`,
  )
    .bind(DAY_MS, dayMs, dayMs + DAY_MS, JSON.stringify(subjects), project)
    .all<RequestTotals>();
  return results;
}

/**
 * Sums of predictions' outcomes, by series and step, the newest first; one more than `limit` shows that the list is
 * cut. The database adds them up, since requests are many and steps few. The span must be whole steps.
 */
export async function readForecastSums(
  { DB, project }: ProjectStorage,
  { model, placement, confidence }: Pick<PredictionCalibrationQuery, "model" | "placement" | "confidence">,
  { fromMs, toMs }: Span,
  stepMs: number,
  limit: number,
): Promise<ForecastSum[]> {
  const selected = `select no from series where project = ?9 and subject_kind = 'model' and metric in ('inTime', 'asPredicted')
    and (?6 is null or subject = ?6) and (?7 is null or key ->> '$.configuration.placement' = ?7)
    and (?8 is null or key ->> '$.configuration.confidence' = ?8)`;
  const rollupMs = ROLLUP_STEPS_MS.find((ms) => stepMs % ms === 0) ?? null;
  // A number is bound as a real one, so that a division would not give whole steps.
  const { results } = await DB.prepare(
    `select key, at_ms / cast(?4 as integer) * cast(?4 as integer) as stepAtMs, sum(count) as count, sum(sum) as sum
       from (${partsOf(selected, rollupMs !== null)}) join series on no = series_no
       group by no, 2 order by 2 desc, id limit ?5`,
  )
    .bind(
      rollupMs,
      fromMs,
      toMs,
      stepMs,
      limit + 1,
      model ?? null,
      placement ?? null,
      confidence === undefined ? null : calibratedLevel(confidence),
      project,
    )
    .all<Omit<ForecastSum, "key"> & { key: string }>();
  return results.map((row) => ({ ...row, key: JSON.parse(row.key) as SeriesKey }));
}
