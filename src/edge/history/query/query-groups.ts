import type {
  HistoryLeaderboard,
  HistoryLeaderboardQuery,
  HistoryQuery,
  HistoryQueryReply,
  Scaling,
  ScalingQuery,
} from "../../../protocol/history/history-query.ts";
import { toInstantOrNull } from "../../clock.ts";
import type { SelectedSeries } from "../../store/history/series-store.ts";
import type { AskedSeries } from "./ask-series.ts";
import { type GroupedSeries, groupSeries, quantityOf, toWireGroup } from "./group-series.ts";
import { describeWindow, readParts } from "./history-window.ts";
import { createMerger, medianIntervalOf, type MergedParts, mergePoints, quantilesOf, toPoint } from "./merge-parts.ts";

/** Groups of series over time: one point of each group for each step, or one for the whole span. */
export async function queryGroups(
  binding: D1Database,
  { series, window }: AskedSeries,
  { groupBy, limit, percentiles, step }: Pick<HistoryQuery, "groupBy" | "limit" | "percentiles" | "step">,
): Promise<{ body: HistoryQueryReply; rowsRead: number }> {
  const all = groupSeries(series, groupBy);
  const shown = all.slice(0, limit);
  const numbers = shown.flatMap(({ members }) => members.map(({ no }) => no));
  const { parts, rowsRead } = await readParts(binding, numbers, window);
  const merge = createMerger();
  const form = { percentiles, sketches: false };
  const groups: HistoryQueryReply["groups"] = [];
  for (const group of shown) {
    const own = group.members.flatMap(({ no }) => parts.get(no) ?? []);
    // Without a step, the whole span is one step, which begins with the span.
    const points =
      window.stepMs !== null || own.length === 0
        ? await mergePoints(own, window.stepMs, form, merge)
        : [toPoint(window.span.fromMs, await merge(own), form)];
    groups.push({ ...toWireGroup(group), points });
  }
  const truncated = shown.length < all.length;
  return { body: { groups, ...describeWindow(window), step: step ?? null, truncated }, rowsRead };
}

type Board = HistoryLeaderboard["boards"][number];
type Entry = Board["entries"][number];
type Unranked = Omit<Entry, "rank" | "timesWorse">;

/** Choices of how work is done, which a leaderboard compares. All other configuration separates boards. */
const CHOICES: readonly string[] = ["variant", "backend", "axes", "tuned", "device", "placement"];

/**
 * Groups ordered by their medians, best first. One board holds groups with the same work and quantity, so software
 * devices have boards of their own.
 */
export async function rankGroups(
  binding: D1Database,
  { series, window }: AskedSeries,
  { groupBy, limit }: Pick<HistoryLeaderboardQuery, "groupBy" | "limit">,
): Promise<{ body: HistoryLeaderboard; rowsRead: number }> {
  const chosen = new Set([...CHOICES, ...groupBy.map((dimension) => dimension.replace(/^configuration\./, ""))]);
  const workOf = ({ configuration }: Pick<GroupedSeries["members"][number], "configuration">) =>
    Object.fromEntries(Object.entries(configuration).filter(([name]) => !chosen.has(name)));
  const all = groupSeries(series, groupBy, workOf);
  const shown = all.slice(0, limit);
  const numbers = shown.flatMap(({ members }) => members.map(({ no }) => no));
  const { parts, rowsRead } = await readParts(binding, numbers, window);
  const merge = createMerger();
  const boards = new Map<string, Omit<Board, "entries"> & { entries: Unranked[] }>();
  for (const group of shown) {
    const own = group.members.flatMap(({ no }) => parts.get(no) ?? []);
    if (own.length === 0) continue;
    const place = { ...quantityOf(group), work: workOf(group.members[0]!) };
    const key = JSON.stringify(place);
    const board = boards.get(key) ?? { ...place, entries: [] };
    boards.set(key, board);
    board.entries.push(toEntry(group, await merge(own)));
  }
  const ranked = [...boards.values()].map((board) => ({ ...board, entries: rank(board.entries, board.direction) }));
  return { body: { boards: ranked, ...describeWindow(window), truncated: shown.length < all.length }, rowsRead };
}

function toEntry(group: GroupedSeries, merged: MergedParts): Unranked {
  const { group: values, device, series } = toWireGroup(group);
  const [median = Number.NaN] = quantilesOf(merged, [0.5]);
  const lastMs = Math.max(...group.members.map(({ lastPointAtMs }) => lastPointAtMs ?? -Infinity));
  return {
    group: values,
    device,
    series,
    median,
    interval: medianIntervalOf(merged),
    count: merged.count,
    points: group.members.reduce((sum, { points }) => sum + points, 0),
    lastPointAt: toInstantOrNull(Number.isFinite(lastMs) ? lastMs : null),
  };
}

/** Equal medians share a rank, and the next rank counts them all. */
export function rank(entries: readonly Unranked[], direction: Board["direction"]): Entry[] {
  const sign = direction === "lower" ? 1 : -1;
  const sorted = entries.toSorted((a, b) => sign * (a.median - b.median));
  const best = sorted[0]?.median ?? Number.NaN;
  return sorted.map((entry) => ({
    rank: 1 + sorted.findIndex(({ median }) => median === entry.median),
    ...entry,
    timesWorse: best > 0 && entry.median > 0 ? (entry.median / best) ** sign : null,
  }));
}

/** Measurements of each group at each value of a configuration, over the whole span. */
export async function readScaling(
  binding: D1Database,
  { series, window }: AskedSeries,
  { over, groupBy, limit, percentiles }: Pick<ScalingQuery, "over" | "groupBy" | "limit" | "percentiles">,
): Promise<{ body: Scaling; rowsRead: number }> {
  const scaled = series.filter((one) => valueOf(one, over) !== null);
  const all = groupSeries(scaled, groupBy);
  const shown = all.slice(0, limit);
  const numbers = shown.flatMap(({ members }) => members.map(({ no }) => no));
  const { parts, rowsRead } = await readParts(binding, numbers, window);
  const merge = createMerger();
  const groups: Scaling["groups"] = [];
  for (const group of shown) {
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
  return { body: { over, groups, ...describeWindow(window), truncated: shown.length < all.length }, rowsRead };
}

/** A configuration's number; null where it is not numeric. */
function valueOf({ configuration }: Pick<SelectedSeries, "configuration">, name: string): number | null {
  const value = configuration[name];
  if (value === undefined || String(value).trim() === "") return null;
  return Number.isFinite(Number(value)) ? Number(value) : null;
}
