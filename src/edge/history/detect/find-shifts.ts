import type { ChangeEvidence } from "../../../protocol/history/alert.ts";
import type { DetectionParameters } from "../../../protocol/history/detection.ts";
import type { Statistic } from "../../../protocol/history/threshold.ts";
import { findChangePoints } from "../../../stats/change/change-points.ts";
import { type DetectedChange, detectChanges } from "../../../stats/change/detect-changes.ts";
import { quantile } from "../../../stats/distribution/summary.ts";
import { NOISE_FLOOR } from "../../../stats/compare/threshold.ts";
import { toInstant } from "../../clock.ts";
import type { Shift } from "../../store/history/detection-store.ts";
import type { StoredPoint } from "../../store/history/point-store.ts";
import { resolutionOf, statisticOf } from "./shift.ts";

export interface Search {
  readonly direction: "lower" | "higher";
  readonly statistic: Statistic;
  readonly parameters: DetectionParameters;
}

/** Description of a change, from either detector. */
type Found = Pick<DetectedChange, "index" | "completeIndex" | "kind" | "verdict" | "from" | "to"> &
  Pick<ChangeEvidence, "relativeChange" | "interval" | "p" | "confidence">;

/** The lasting changes of a series, oldest first. */
export function findShifts(points: readonly StoredPoint[], search: Search): Shift[] {
  const values = points.map((point) => statisticOf(point, search.statistic));
  const { minMagnitude = NOISE_FLOOR } = search.parameters;
  const minimumEffect = Math.max(minMagnitude, resolutionOf(points, search.statistic));
  const found =
    search.parameters.minSegment === 0 ? findAsOtava(values, search) : findLasting(values, minimumEffect, search);
  return found.map((change, at) => {
    // A drift may be complete only with the change behind it: the point before is of its level then.
    const start = Math.max(0, Math.min(found[at - 1]?.completeIndex ?? 0, change.index - 1));
    const end = found[at + 1]?.index ?? points.length;
    return toShift(points, values, change, { start, end, minimumEffect, statistic: search.statistic });
  });
}

function findLasting(
  values: readonly number[],
  minimumEffect: number,
  { direction, parameters }: Search,
): readonly Found[] {
  const { windowPoints, maxP, minSegment: minimumSegment } = parameters;
  return detectChanges(values, { direction, windowPoints, maxP, minimumSegment, minimumEffect });
}

/** Without a shortest segment, the result equals Otava's exactly. */
function findAsOtava(values: readonly number[], { direction, parameters }: Search): readonly Found[] {
  const { windowPoints = 50, maxP = 0.001, minMagnitude = 0 } = parameters;
  return findChangePoints(values, { windowPoints, maxP, minMagnitude }).map((change) => {
    const { index, p, meanBefore: from, meanAfter: to } = change;
    const verdict = to > from === (direction === "lower") ? "regression" : "improvement";
    const sure = Number.isNaN(p) ? { p: null, confidence: null } : { p, confidence: 1 - p };
    const relativeChange = from === 0 ? null : change.relativeChange;
    return { index, completeIndex: index, kind: "step", verdict, from, to, relativeChange, interval: null, ...sure };
  });
}

/** The points from `start` to before `end` are those of the two levels. */
interface Segments {
  readonly start: number;
  readonly end: number;
  readonly minimumEffect: number;
  readonly statistic: Statistic;
}

function toShift(points: readonly StoredPoint[], values: readonly number[], found: Found, of: Segments): Shift {
  const { index, completeIndex, kind, verdict, from, to, relativeChange, interval, p, confidence } = found;
  const before = values.slice(of.start, index);
  const oldRange = { low: quantile(before, 0.1), high: quantile(before, 0.9) };
  const isQuiet = before.every((value) => value === before[0]);
  const place = placeOf(points, index);
  return {
    ...place,
    kind,
    thresholdId: null,
    direction: verdict,
    evidence: {
      statistic: of.statistic,
      from,
      to,
      relativeChange,
      interval,
      p,
      confidence,
      noiseFloor: isQuiet ? of.minimumEffect : null,
      pointsBefore: before.length,
      pointsAfter: of.end - completeIndex,
      completeAt: toInstant(points[completeIndex]?.atMs ?? place.atMs),
      oldRange,
      ...previousOf(points, index),
      returnedAt: null,
      withdrawnAt: null,
      limits: null,
    },
  };
}

/** Start of a new regime, and the run that began it. */
export function placeOf(points: readonly StoredPoint[], index: number) {
  const [last, first] = [points[index - 1], points[index]];
  if (first === undefined) throw new RangeError(`there is no point ${index}`);
  const { atMs, runId, revision } = first;
  // Two points of one instant still get a span between them.
  return { afterMs: Math.min(last?.atMs ?? atMs, atMs - 1), atMs, runId, revision };
}

/** The last run of the old regime. */
export function previousOf(points: readonly StoredPoint[], index: number) {
  const { runId = null, revision = null } = points[index - 1] ?? {};
  return { previousRunId: runId, previousRevision: revision };
}
