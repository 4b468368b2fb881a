import type { Threshold } from "../../../protocol/threshold.ts";
import { median } from "../../../stats/median.ts";
import { toInstant } from "../../store/instant.ts";
import type { StoredPoint } from "../../store/point-store.ts";
import { placeOf, previousOf } from "./find-shifts.ts";
import { type Episode, judgePoints } from "./judge-points.ts";
import type { SeriesPoints } from "./read-series-points.ts";
import type { Shift } from "./shift.ts";
import { resolutionOf, statisticOf } from "./statistic-of.ts";

/**
 * Where points of a series broke a rule: one shift for each time, however long it lasts. Of a series that is cut,
 * those points are not judged whose whole history was not read.
 */
export function findBreaches(
  { points, truncated }: SeriesPoints,
  rule: Threshold,
  direction: "lower" | "higher",
): Shift[] {
  const values = points.map((point) => statisticOf(point, rule.statistic));
  const noiseFloor = Math.max(rule.noiseFloor, resolutionOf(points, rule.statistic));
  const { episodes } = judgePoints(values, rule, { direction, noiseFloor });
  return episodes
    .filter(({ start }) => !truncated || start >= rule.windowPoints)
    .map((episode) => toShift(points, values, episode, rule, noiseFloor));
}

function toShift(
  points: readonly StoredPoint[],
  values: readonly number[],
  { direction, start, end, beyond, judgement }: Episode,
  rule: Threshold,
  noiseFloor: number,
): Shift {
  const { baseline, lowerLimit, upperLimit, noiseFloorUsed } = judgement;
  const history = values.slice(Math.max(0, start - rule.windowPoints), start);
  const to = median(beyond.map((index) => values[index] ?? Number.NaN));
  // A static rule has no baseline, and may be broken by the very first point.
  const from = baseline ?? (history.length > 0 ? median(history) : to);
  return {
    ...placeOf(points, start),
    kind: "threshold",
    thresholdId: rule.id,
    direction,
    evidence: {
      statistic: rule.statistic,
      from,
      to,
      relativeChange: from === 0 ? null : to / from - 1,
      interval: null,
      p: null,
      confidence: null,
      noiseFloor: noiseFloorUsed ? noiseFloor : null,
      pointsBefore: history.length,
      pointsAfter: (end ?? points.length) - start,
      completeAt: toInstant(points[start]?.atMs ?? 0),
      oldRange: null,
      ...previousOf(points, start),
      returnedAt: null,
      limits: { threshold: rule.name, test: rule.test, baseline, lowerLimit, upperLimit },
    },
  };
}
