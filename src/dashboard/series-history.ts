import type { Client } from "../client/client.ts";
import type { ChangesReply } from "../protocol/detection.ts";
import { endpoints } from "../protocol/endpoints.ts";
import type { PointsReply } from "../protocol/history.ts";
import { findHardwareChanges, type HardwareChange } from "./hardware-change.ts";

/** Series of other hardware that are looked up for what their hardware is. */
const OTHERS_READ = 100;

/** The points of a series in a window, and what happened to it. */
export interface SeriesHistory extends PointsReply {
  readonly happened: ChangesReply;
  readonly hardwareChanges: readonly HardwareChange[];
}

/** Which part of a series to read; without a step the points as measured. */
export interface HistorySpan {
  readonly spanMs: number;
  /** Absent: now. */
  readonly endMs?: number;
  readonly step?: string;
}

/** Reads points and marks together, so that neither pushes the other about when it comes. */
export async function readSeriesHistory(
  client: Client,
  series: string,
  { spanMs, endMs, step }: HistorySpan,
  signal: AbortSignal,
): Promise<SeriesHistory> {
  const from = new Date((endMs ?? Date.now()) - spanMs).toISOString();
  const to = endMs === undefined ? undefined : new Date(endMs).toISOString();
  const [points, happened] = await Promise.all([
    client.call(endpoints.listPoints, { query: { series, from, to, step }, signal }),
    client.call(endpoints.listChanges, { query: { series, from, to }, signal }),
  ]);
  const others = happened.hardware.map(({ seriesId }) => seriesId).filter((id) => id !== series);
  const { items } =
    others.length === 0
      ? { items: [] }
      : await client.call(endpoints.listSeries, {
          query: { series: others.slice(0, OTHERS_READ), limit: OTHERS_READ },
          signal,
        });
  const fingerprints = new Map([points.series, ...items].map(({ id, fingerprint }) => [id, fingerprint]));
  const hardwareChanges = findHardwareChanges(happened.hardware, series, fingerprints).filter(
    ({ at }) => at >= from && (to === undefined || at < to),
  );
  // What later points took back is no change any more.
  const changes = happened.changes.filter(({ withdrawnAt }) => withdrawnAt === null);
  return { ...points, happened: { ...happened, changes }, hardwareChanges };
}
