import { alertEndpoints } from "../../../protocol/history/alert-endpoints.ts";
import { historyEndpoints } from "../../../protocol/history/history-endpoints.ts";
import type { Client } from "../../../client/client.ts";
import type { Change } from "../../../protocol/history/alert.ts";
import type { ChangesReply } from "../../../protocol/history/detection.ts";
import type { PointsReply } from "../../../protocol/history/history.ts";
import { findHardwareChanges, type HardwareChange } from "../../../words/history.ts";

/** Series of other hardware that are looked up for what their hardware is. */
const OTHERS_READ = 100;

/** Events of a series. */
interface Happened {
  readonly happened: ChangesReply;
  readonly hardwareChanges: readonly HardwareChange[];
}

/** The points of a series in a window, and what happened to it. */
export interface SeriesHistory extends PointsReply, Happened {}

/** Part of a series to read; without a step, the points as measured. */
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
    client.call(historyEndpoints.listPoints, { query: { series, from, to, step: span.step }, signal }),
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
  const happened = await client.call(alertEndpoints.listChanges, { query: { series, from, to }, signal });
  const others = happened.hardware.map(({ seriesId }) => seriesId);
  const { items } =
    others.length === 0
      ? { items: [] }
      : await client.call(historyEndpoints.listSeries, {
          query: { series: [...new Set([series, ...others])].slice(0, OTHERS_READ), limit: OTHERS_READ },
          signal,
        });
  const fingerprints = new Map(items.map(({ id, fingerprint }) => [id, fingerprint]));
  const hardwareChanges = findHardwareChanges(happened.hardware, series, fingerprints).filter(
    ({ at }) => at >= from && (to === undefined || at < to),
  );
  // Later points withdrew these changes.
  const changes = happened.changes.filter(({ withdrawnAt }) => withdrawnAt === null);
  return { happened: { ...happened, changes }, hardwareChanges };
}

/** So many points on either side show a level and its noise. */
const SIDE_POINTS = 40;

/** The points around a change, and what happened among them. */
export function trimAround(
  history: SeriesHistory,
  { at, completeAt }: Pick<Change, "at" | "completeAt">,
): SeriesHistory {
  const { points } = history;
  const first = points.findIndex((point) => point.at >= at);
  const complete = points.findIndex((point) => point.at >= completeAt);
  const middle = first === -1 ? points.length : first;
  const end = (complete === -1 ? middle : complete) + SIDE_POINTS;
  const kept = points.slice(Math.max(0, middle - SIDE_POINTS), end);
  const from = kept[0]?.at ?? at;
  const to = kept.at(-1)?.at ?? at;
  const isKept = (each: { readonly at: string }) => each.at >= from && each.at <= to;
  const { changes, spikes, hardware } = history.happened;
  return {
    ...history,
    points: kept,
    truncated: false,
    happened: { changes: changes.filter(isKept), spikes: spikes.filter(isKept), hardware },
    hardwareChanges: history.hardwareChanges.filter(isKept),
  };
}
