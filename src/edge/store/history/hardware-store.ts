import type { HardwareSpan } from "../../../protocol/history/detection.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { toInstant } from "../../clock.ts";
import { HOUR_MS } from "./rollup-store.ts";
import type { StoredSeries } from "./series-store.ts";

interface Row {
  readonly seriesId: string;
  readonly fingerprintId: string | null;
  readonly firstPointMs: number | null;
  readonly lastPointMs: number | null;
  readonly firstHourMs: number | null;
  readonly lastHourMs: number | null;
}

/**
 * Series that differ from this one by the fingerprint only, including itself, with the span of their measurements, the
 * earliest first. Spans of deleted request points come from the hourly rollups.
 */
export async function readHardware(binding: D1Database, { no }: StoredSeries): Promise<HardwareSpan[]> {
  const { results } = await binding
    .prepare(
      `select kin.id as seriesId, kin.fingerprint_id as fingerprintId,
         (select min(at_ms) from points where series_no = kin.no) as firstPointMs,
         (select max(at_ms) from points where series_no = kin.no) as lastPointMs,
         (select min(at_ms) from rollups where series_no = kin.no and step_ms = ?2) as firstHourMs,
         (select max(at_ms) from rollups where series_no = kin.no and step_ms = ?2) as lastHourMs
       from series as one join series as kin
         on kin.project = one.project and kin.subject = one.subject and kin.metric = one.metric and kin.label is one.label
         and json_remove(kin.key, '$.fingerprint') = json_remove(one.key, '$.fingerprint')
       where one.no = ?1 order by kin.created_at_ms limit ?3`,
    )
    .bind(no, HOUR_MS, LIMITS.hardwareSpans)
    .all<Row>();
  return results.flatMap(toSpan).toSorted((a, b) => (a.from < b.from ? -1 : 1));
}

function toSpan({ seriesId, fingerprintId, ...row }: Row): HardwareSpan[] {
  const hourOf = (ms: number) => Math.floor(ms / HOUR_MS) * HOUR_MS;
  // A point within the hour is more precise.
  const better = (pointMs: number | null, hourMs: number | null, isNearer: boolean) =>
    pointMs !== null && (hourMs === null || isNearer || hourOf(pointMs) === hourMs) ? pointMs : hourMs;
  const { firstPointMs, lastPointMs, firstHourMs, lastHourMs } = row;
  const fromMs = better(firstPointMs, firstHourMs, (firstPointMs ?? 0) < (firstHourMs ?? 0));
  const toMs = better(lastPointMs, lastHourMs, (lastPointMs ?? 0) > (lastHourMs ?? 0));
  return fromMs === null || toMs === null
    ? []
    : [{ seriesId, fingerprintId, from: toInstant(fromMs), to: toInstant(toMs) }];
}

/** Predecessor and successor of a series; devices that were measured side by side are neither. */
export function succession(
  spans: readonly HardwareSpan[],
  id: string,
): { successorOf: string | null; succeededBy: string | null } {
  const own = spans.find(({ seriesId }) => seriesId === id);
  if (own === undefined) return { successorOf: null, succeededBy: null };
  const before = spans.filter(({ to }) => to < own.from).toSorted((a, b) => (a.to > b.to ? -1 : 1));
  const after = spans.find(({ from }) => from > own.to);
  return { successorOf: before[0]?.seriesId ?? null, succeededBy: after?.seriesId ?? null };
}
