import type { Scaling, ScalingQuery } from "../../protocol/history-query.ts";
import type { SelectedSeries } from "../store/series-store.ts";
import type { AskedSeries } from "./ask-series.ts";
import { groupSeries, toWireGroup } from "./group-series.ts";
import { describeWindow, readParts } from "./history-window.ts";
import { createMerger, medianIntervalOf } from "./merge-parts.ts";
import { toPoint } from "./merge-points.ts";

/** What the series of each group measured at each value of a configuration, over the whole span. */
export async function readScaling(
  binding: D1Database,
  { series, window }: AskedSeries,
  { over, groupBy, limit, percentiles }: Pick<ScalingQuery, "over" | "groupBy" | "limit" | "percentiles">,
): Promise<{ body: Scaling; rowsRead: number }> {
  const scaled = series.filter((one) => valueOf(one, over) !== null);
  const all = groupSeries(scaled, groupBy);
  const told = all.slice(0, limit);
  const numbers = told.flatMap(({ members }) => members.map(({ no }) => no));
  const { parts, rowsRead } = await readParts(binding, numbers, window);
  const merge = createMerger();
  const groups: Scaling["groups"] = [];
  for (const group of told) {
    const byValue = Map.groupBy(group.members, (member) => valueOf(member, over) ?? Number.NaN);
    const points: Scaling["groups"][number]["points"] = [];
    for (const [value, members] of [...byValue].toSorted(([a], [b]) => a - b)) {
      const own = members.flatMap(({ no }) => parts.get(no) ?? []);
      if (own.length === 0) continue;
      const merged = await merge(own);
      const {
        at: _at,
        runId: _runId,
        ...point
      } = toPoint(window.span.fromMs, merged, { percentiles, sketches: false });
      points.push({ value, ...point, interval: medianIntervalOf(merged) });
    }
    groups.push({ ...toWireGroup(group), points });
  }
  return { body: { over, groups, ...describeWindow(window), truncated: told.length < all.length }, rowsRead };
}

/** A configuration as a number; null where it is none. */
function valueOf({ configuration }: Pick<SelectedSeries, "configuration">, name: string): number | null {
  const value = configuration[name];
  if (value === undefined || String(value).trim() === "") return null;
  return Number.isFinite(Number(value)) ? Number(value) : null;
}
