import { MINIMUM_SEGMENT } from "../../../stats/change/find-spikes.ts";
import type { KnownChange, Shift } from "../../store/history/detection-store.ts";
import type { StoredPoint } from "../../store/history/point-store.ts";
import { findReturn } from "./find-breaches.ts";
import { statisticOf } from "./shift.ts";

/**
 * A change moves while points come in, by a few of them: so many shortest segments. Nearer pairs go first, so that
 * a further change beside a known one is none of it.
 */
const REACH_SEGMENTS = 3;

/**
 * Which known change each shift is. Change points are recognised by direction and place; a breach of a rule by the
 * same, or because the alert of the last one still stands: a rule has one open alert a series.
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
    // One standing alert may be told of by several breaches.
    if (change.thresholdId === null) taken.add(change);
  }
  return recognised;
}

/** In points; 0 of slopes that overlap. */
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
 * When a series was back at the level of before a change: with a later change that leads there, or, of a broken
 * rule, with points in a row within the limits that it had. Null where it was not.
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
