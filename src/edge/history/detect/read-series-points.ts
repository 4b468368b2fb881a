import type { SeriesKey, SeriesSelector } from "../../../protocol/history/series.ts";
import { mergeAggregates } from "../../../stats/distribution/distribution.ts";
import { openDatabase } from "../../store/database.ts";
import { readPoints, type StoredPoint } from "../../store/history/point-store.ts";
import { HOUR_MS, type Span } from "../../store/history/rollup-store.ts";
import { readHistory } from "../rollup/read-history.ts";

/** True if a selector matches a series in memory, by the rules of `selectSeries`. */
export function isSelected(
  series: SeriesKey & { readonly id: string; readonly fingerprintId: string | null },
  selector: SeriesSelector,
): boolean {
  const isOf = (wanted: unknown, found: unknown) => wanted === undefined || wanted === found;
  const { series: ids, variant, backend, batch, configuration } = selector;
  const fields = Object.entries({ variant, backend, batch, ...configuration });
  return (
    (ids === undefined || ids.includes(series.id)) &&
    isOf(selector.subject, series.subject) &&
    isOf(selector.subjectKind, series.subjectKind) &&
    isOf(selector.metric, series.metric) &&
    isOf(selector.unit, series.unit) &&
    isOf(selector.clock, series.clock) &&
    isOf(selector.label, series.label) &&
    isOf(selector.fingerprint, series.fingerprintId) &&
    isOf(selector.software, series.software) &&
    // Query parameters hold numbers as text.
    fields.every(([name, wanted]) => wanted === undefined || isOf(String(wanted), textOf(series.configuration[name])))
  );
}

function textOf(value: string | number | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

/** Largest delay of the points of an hour. */
const LATE_MS = 300_000;

/** Points of a series for the search, oldest first. */
export interface SeriesPoints {
  readonly points: readonly StoredPoint[];
  /** True if there are older points. */
  readonly truncated: boolean;
}

/** End of the last full hour whose measurements have arrived. */
export function closedHourMs(nowMs: number): number {
  return Math.floor((nowMs - LATE_MS) / HOUR_MS) * HOUR_MS;
}

/**
 * The latest `limit` points of a series in a span: of each run as measured, or the full hours of a series that has only
 * live requests.
 */
export async function readSeriesPoints(
  binding: D1Database,
  seriesNo: number,
  span: Span,
  limit: number,
  nowMs: number,
): Promise<SeriesPoints> {
  const latest = await readPoints(openDatabase(binding), seriesNo, span, limit);
  const ofRuns = latest.filter(({ runId }) => runId !== null);
  if (ofRuns.length > 0) return { points: ofRuns.slice(-limit), truncated: latest.length > limit };
  return readHours(binding, seriesNo, span, limit, nowMs);
}

async function readHours(
  binding: D1Database,
  seriesNo: number,
  { fromMs, toMs }: Span,
  limit: number,
  nowMs: number,
): Promise<SeriesPoints> {
  const endMs = Math.min(Math.floor(toMs / HOUR_MS) * HOUR_MS, closedHourMs(nowMs));
  const startMs = Math.max(fromMs, endMs - limit * HOUR_MS);
  if (startMs >= endMs) return { points: [], truncated: false };
  const { buckets } = await readHistory(binding, [seriesNo], { fromMs: startMs, toMs: endMs }, HOUR_MS);
  const hours = Map.groupBy(buckets, ({ atMs }) => Math.floor(atMs / HOUR_MS) * HOUR_MS);
  const points = [...hours].map(([atMs, parts]) => {
    return { ...mergeAggregates(parts), atMs, runId: null, revision: null };
  });
  return { points, truncated: fromMs < startMs };
}
