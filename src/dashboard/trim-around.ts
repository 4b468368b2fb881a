import type { Change } from "../protocol/alert.ts";
import type { SeriesHistory } from "./series-history.ts";

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
