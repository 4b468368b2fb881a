import type { SeriesKey, SeriesSelector } from "../../../protocol/history/series.ts";
import { mergeAggregates } from "../../../stats/distribution/distribution.ts";
import { openDatabase } from "../../store/database.ts";
import { readPoints, type StoredPoint } from "../../store/history/point-store.ts";
import { HOUR_MS, type Span } from "../../store/history/rollup-store.ts";
import { readHistory } from "../rollup/read-history.ts";

/** Whether a selector means a series: the same answer as the one of `selectSeries`, of a series that is here. */
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
    // Queries name numbers as text.
    fields.every(([name, wanted]) => wanted === undefined || isOf(String(wanted), textOf(series.configuration[name])))
  );
}

function textOf(value: string | number | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

/** What an hour left may be on its way for so long. */
const LATE_MS = 300_000;

/** The points of a series that changes are looked for in, oldest first. */
export interface SeriesPoints {
  readonly points: readonly StoredPoint[];
  /** Whether there are older ones. */
  readonly truncated: boolean;
}

/** The end of the last hour that is over, and whose measurements have come. */
export function closedHourMs(nowMs: number): number {
  return Math.floor((nowMs - LATE_MS) / HOUR_MS) * HOUR_MS;
}

/**
 * The latest `limit` points of a series in a span: each run's, as it was measured; of a series that only live
 * requests left, its closed hours.
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
