import type { HistoryQuery, HistoryQueryReply } from "../../protocol/history-query.ts";
import type { AskedSeries } from "./ask-series.ts";
import { groupSeries, toWireGroup } from "./group-series.ts";
import { describeWindow, readParts } from "./history-window.ts";
import { createMerger } from "./merge-parts.ts";
import { mergePoints, toPoint } from "./merge-points.ts";

/** Groups of series over time: of each a point a step, or one over the whole span. */
export async function queryGroups(
  binding: D1Database,
  { series, window }: AskedSeries,
  { groupBy, limit, percentiles, step }: Pick<HistoryQuery, "groupBy" | "limit" | "percentiles" | "step">,
): Promise<{ body: HistoryQueryReply; rowsRead: number }> {
  const all = groupSeries(series, groupBy);
  const told = all.slice(0, limit);
  const numbers = told.flatMap(({ members }) => members.map(({ no }) => no));
  const { parts, rowsRead } = await readParts(binding, numbers, window);
  const merge = createMerger();
  const form = { percentiles, sketches: false };
  const groups: HistoryQueryReply["groups"] = [];
  for (const group of told) {
    const own = group.members.flatMap(({ no }) => parts.get(no) ?? []);
    // Where there is no step, the whole span is one, which begins where the span does.
    const points =
      window.stepMs !== null || own.length === 0
        ? await mergePoints(own, window.stepMs, form, merge)
        : [toPoint(window.span.fromMs, await merge(own), form)];
    groups.push({ ...toWireGroup(group), points });
  }
  const truncated = told.length < all.length;
  return { body: { groups, ...describeWindow(window), step: step ?? null, truncated }, rowsRead };
}
