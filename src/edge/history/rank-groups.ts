import type { HistoryLeaderboard, HistoryLeaderboardQuery } from "../../protocol/history-query.ts";
import { toInstantOrNull } from "../store/instant.ts";
import type { AskedSeries } from "./ask-series.ts";
import { type GroupedSeries, groupSeries, quantityOf, toWireGroup } from "./group-series.ts";
import { describeWindow, readParts } from "./history-window.ts";
import { createMerger, medianIntervalOf, type MergedParts, quantilesOf } from "./merge-parts.ts";

type Board = HistoryLeaderboard["boards"][number];
type Entry = Board["entries"][number];
type Unranked = Omit<Entry, "rank" | "timesWorse">;

/** How work is done, and not what: what a leaderboard compares. All other configuration stands apart. */
const CHOICES: readonly string[] = ["variant", "backend", "axes", "tuned", "device", "placement"];

/**
 * Groups by their medians, the best first. On one board stand those that did the same work and measured the same; so
 * software devices have boards of their own.
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
  const told = all.slice(0, limit);
  const numbers = told.flatMap(({ members }) => members.map(({ no }) => no));
  const { parts, rowsRead } = await readParts(binding, numbers, window);
  const merge = createMerger();
  const boards = new Map<string, Omit<Board, "entries"> & { entries: Unranked[] }>();
  for (const group of told) {
    const own = group.members.flatMap(({ no }) => parts.get(no) ?? []);
    if (own.length === 0) continue;
    const place = { ...quantityOf(group), work: workOf(group.members[0]!) };
    const key = JSON.stringify(place);
    const board = boards.get(key) ?? { ...place, entries: [] };
    boards.set(key, board);
    board.entries.push(toEntry(group, await merge(own)));
  }
  const ranked = [...boards.values()].map((board) => ({ ...board, entries: rank(board.entries, board.direction) }));
  return { body: { boards: ranked, ...describeWindow(window), truncated: told.length < all.length }, rowsRead };
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

/** Equal medians share a rank, and the next one counts them all. */
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
