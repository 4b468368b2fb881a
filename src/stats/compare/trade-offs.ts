/** A point of a curve that rises and bends down. */
export interface CurvePoint {
  readonly x: number;
  readonly y: number;
}

/** Number of average gaps along x over which the curve must flatten before its bend counts; the paper uses 1. */
const SENSITIVITY = 1;

/**
 * Index of the knee of a rising cost curve: its sharpest bend from steep to flat. Offline and without smoothing, which
 * few points would not survive: both axes are scaled to [0, 1], and the first local maximum of y − x that falls by the
 * threshold before the next one is the knee. Null with fewer than three points, and where the curve is straight, flat
 * or bends upwards. `points` rise in x.
 * Source: Kneedle of Satopaa, Albrecht, Irwin and Raghavan, "Finding a Kneedle in a Haystack", ICDCS workshops 2011.
 */
export function findKnee(points: readonly CurvePoint[]): number | null {
  const xs = scale(points.map(({ x }) => x));
  const ys = scale(points.map(({ y }) => y));
  if (points.length < 3 || xs === null || ys === null) return null;
  const above = xs.map((x, index) => (ys[index] ?? 0) - x);
  const fall = SENSITIVITY / (points.length - 1);
  let highest: number | null = null;
  for (let i = 1; i < above.length; i++) {
    const [before = 0, here = 0, after = Number.NEGATIVE_INFINITY] = above.slice(i - 1, i + 2);
    if (highest !== null && here < (above[highest] ?? 0) - fall) return highest;
    if (i < above.length - 1 && here > before && here >= after) highest = i;
  }
  return null;
}

/** Onto [0, 1]; null where all are the same. */
function scale(values: readonly number[]): number[] | null {
  const low = Math.min(...values);
  const range = Math.max(...values) - low;
  return range > 0 ? values.map((value) => (value - low) / range) : null;
}

/** The better direction of an objective. */
export type Direction = "higher" | "lower";

/**
 * Those of the points that no other one dominates, in their order: as good in every objective and better in one. Of
 * points that are equal in all, the first. `objectives` gives a point's values in the order of `directions`; a point
 * with NaN is never on the front.
 */
export function paretoFront<Point>(
  points: readonly Point[],
  directions: readonly Direction[],
  objectives: (point: Point) => readonly number[],
): Point[] {
  // As costs, so that less is better in all.
  const costs = points.map((point) => {
    const values = objectives(point);
    return directions.map((direction, index) => (direction === "lower" ? 1 : -1) * (values[index] ?? Number.NaN));
  });
  const isKnown = costs.map((cost) => !cost.some(Number.isNaN));
  return points.filter((_, index) => {
    const own = costs[index]!;
    if (!isKnown[index]) return false;
    return !costs.some((other, place) => isKnown[place] && beats(other, own, place < index));
  });
}

/** Whether `other` is no worse anywhere, and better somewhere or the earlier of two equal ones. */
function beats(other: readonly number[], own: readonly number[], isEarlier: boolean): boolean {
  let isBetter = isEarlier;
  for (const [index, cost] of own.entries()) {
    const difference = (other[index] ?? Number.NaN) - cost;
    if (difference > 0) return false;
    if (difference < 0) isBetter = true;
  }
  return isBetter;
}
