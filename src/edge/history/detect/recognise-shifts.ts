import { MINIMUM_SEGMENT } from "../../../stats/change/find-spikes.ts";
import type { KnownChange, Shift } from "../../store/history/detection-store.ts";
import type { StoredPoint } from "../../store/history/point-store.ts";
import { findReturn } from "./find-breaches.ts";
import { statisticOf } from "./shift.ts";

/**
 * Reach of a change in shortest segments: it moves a little as points arrive. Nearer pairs match first, so that a new
 * change beside a known one stays separate.
 */
const REACH_SEGMENTS = 3;

/**
 * Matches shifts to known changes. Change points match by direction and place; a breach of a rule likewise, or because
 * the last alert is still open: a rule has one open alert for each series.
 */
export function recogniseShifts(
  shifts: readonly Shift[],
  known: readonly KnownChange[],
  points: readonly StoredPoint[],
  minSegment: number = MINIMUM_SEGMENT,
): Map<Shift, KnownChange> {
  const firstMs = points[0]?.atMs ?? Number.POSITIVE_INFINITY;
  const indexOf = (atMs: number) => points.findIndex((point) => point.atMs >= atMs);
  const reach = REACH_SEGMENTS * Math.max(minSegment, MINIMUM_SEGMENT);
  const pairs = shifts.flatMap((shift) => {
    const index = indexOf(shift.atMs);
    return known
      .filter(({ thresholdId, direction }) => thresholdId === shift.thresholdId && direction === shift.direction)
      .map((change) => ({ shift, change, distance: distanceBetween(shift, change, index, indexOf(change.atMs)) }))
      .filter(({ change, distance }) => {
        if (change.thresholdId !== null) return distance < MINIMUM_SEGMENT || stands(change, shift);
        return change.atMs >= firstMs && distance <= reach;
      });
  });
  const recognised = new Map<Shift, KnownChange>();
  const taken = new Set<KnownChange>();
  for (const { shift, change } of pairs.toSorted((a, b) => a.distance - b.distance)) {
    if (recognised.has(shift) || taken.has(change)) continue;
    recognised.set(shift, change);
    // Several breaches may belong to one open alert.
    if (change.thresholdId === null) taken.add(change);
  }
  return recognised;
}

/** In points; 0 for overlapping slopes. */
function distanceBetween(shift: Shift, change: KnownChange, index: number, knownIndex: number): number {
  const overlap =
    shift.atMs <= Date.parse(change.evidence.completeAt) && change.atMs <= Date.parse(shift.evidence.completeAt);
  if (overlap) return 0;
  return knownIndex === -1 ? Number.POSITIVE_INFINITY : Math.abs(index - knownIndex);
}

function stands({ atMs, alertState, evidence }: KnownChange, shift: Shift): boolean {
  const isOpen = alertState === "open" || alertState === "acknowledged" || alertState === "muted";
  return isOpen && evidence.returnedAt === null && atMs <= shift.atMs;
}

/**
 * Time at which a series returned to the level before a change: with a later change to that level, or, for a broken
 * rule, with points in a row within its limits. Null where it did not.
 */
export function returnOf(
  change: Shift,
  shifts: readonly Shift[],
  points: readonly StoredPoint[],
  better: "lower" | "higher",
): number | null {
  const { limits, oldRange, from, statistic, noiseFloor } = change.evidence;
  if (limits !== null) {
    const start = points.findIndex(({ atMs }) => atMs >= change.atMs);
    if (start === -1) return null;
    const values = points.map((point) => statisticOf(point, statistic));
    const index = findReturn(values, start, limits);
    return index === null ? null : (points[index]?.atMs ?? null);
  }
  const slack = Math.abs(from) * (noiseFloor ?? 0);
  const back = shifts.find(({ thresholdId, atMs, direction, evidence: { to } }) => {
    if (thresholdId !== null || atMs <= change.atMs || direction === change.direction) return false;
    return better === "lower"
      ? to <= Math.max(oldRange?.high ?? from, from + slack)
      : to >= Math.min(oldRange?.low ?? from, from - slack);
  });
  return back?.atMs ?? null;
}
