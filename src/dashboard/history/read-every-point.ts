import { historyEndpoints } from "../../protocol/history/history-endpoints.ts";
import type { Client } from "../../client/client.ts";
import type { HistoryPoint } from "../../protocol/history/history.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { DRAWN_PERCENTILES } from "../plots/plot-marks.ts";

/** Points that are drawn at most; a tab holds some ten megabytes of numbers then. */
export const MOST_POINTS = 250_000;

/** Every point of a series as columns, the oldest first. */
export interface PointColumns {
  /** Seconds since 1970. */
  readonly timesS: Float64Array;
  readonly counts: Float64Array;
  /** In the order of `DRAWN_PERCENTILES`. */
  readonly percentiles: readonly Float64Array[];
  /** Whether there are older points. */
  readonly truncated: boolean;
}

/** Reads a series as it was measured, page by page from the newest back, up to `MOST_POINTS`. */
export async function readEveryPoint(
  client: Client,
  series: string,
  onRead: (points: number) => void,
  signal: AbortSignal,
): Promise<PointColumns> {
  const pages: (readonly HistoryPoint[])[] = [];
  let total = 0;
  let cursor: string | null | undefined;
  while (cursor !== null && total < MOST_POINTS) {
    const limit = Math.min(LIMITS.historyPoints, MOST_POINTS - total);
    const query = { series, limit, ...(cursor !== undefined && { cursor }) };
    const page = await client.call(historyEndpoints.listPoints, { query, signal });
    pages.unshift(page.points);
    total += page.points.length;
    cursor = page.nextCursor;
    onRead(total);
  }
  return { ...toColumns(pages, total), truncated: cursor !== null };
}

/** Numbers alone: objects of a hundred thousand points take ten times as much. */
function toColumns(pages: readonly (readonly HistoryPoint[])[], total: number): Omit<PointColumns, "truncated"> {
  const timesS = new Float64Array(total);
  const counts = new Float64Array(total);
  const percentiles = DRAWN_PERCENTILES.map(() => new Float64Array(total));
  let place = 0;
  for (const point of pages.flat()) {
    timesS[place] = Date.parse(point.at) / 1_000;
    counts[place] = point.count;
    for (const [index, name] of DRAWN_PERCENTILES.entries()) {
      percentiles[index]![place] = point.percentiles[name] ?? Number.NaN;
    }
    place++;
  }
  return { timesS, counts, percentiles };
}
