import type { Client } from "../client/client.ts";
import type { ChangesReply } from "../protocol/detection.ts";
import { endpoints } from "../protocol/endpoints.ts";
import type { PointsReply } from "../protocol/history.ts";
import { findHardwareChanges, type HardwareChange } from "./hardware-change.ts";

/** Series of other hardware that are looked up for what their hardware is. */
const OTHERS_READ = 100;

/** What happened to a series. */
interface Happened {
  readonly happened: ChangesReply;
  readonly hardwareChanges: readonly HardwareChange[];
}

/** The points of a series in a window, and what happened to it. */
export interface SeriesHistory extends PointsReply, Happened {}

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
  span: HistorySpan,
  signal: AbortSignal,
): Promise<SeriesHistory> {
  const { from, to } = instantsOf(span);
  const [points, happened] = await Promise.all([
    client.call(endpoints.listPoints, { query: { series, from, to, step: span.step }, signal }),
    readHappened(client, series, span, signal),
  ]);
  return { ...points, ...happened };
}

function instantsOf({ spanMs, endMs }: HistorySpan): { readonly from: string; readonly to: string | undefined } {
  const from = new Date((endMs ?? Date.now()) - spanMs).toISOString();
  return { from, to: endMs === undefined ? undefined : new Date(endMs).toISOString() };
}

/** Reads the changes of a series and of its hardware. */
export async function readHappened(
  client: Client,
  series: string,
  span: HistorySpan,
  signal: AbortSignal,
): Promise<Happened> {
  const { from, to } = instantsOf(span);
  const happened = await client.call(endpoints.listChanges, { query: { series, from, to }, signal });
  const others = happened.hardware.map(({ seriesId }) => seriesId);
  const { items } =
    others.length === 0
      ? { items: [] }
      : await client.call(endpoints.listSeries, {
          query: { series: [...new Set([series, ...others])].slice(0, OTHERS_READ), limit: OTHERS_READ },
          signal,
        });
  const fingerprints = new Map(items.map(({ id, fingerprint }) => [id, fingerprint]));
  const hardwareChanges = findHardwareChanges(happened.hardware, series, fingerprints).filter(
    ({ at }) => at >= from && (to === undefined || at < to),
  );
  // What later points took back is no change any more.
  const changes = happened.changes.filter(({ withdrawnAt }) => withdrawnAt === null);
  return { happened: { ...happened, changes }, hardwareChanges };
}
