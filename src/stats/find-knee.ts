/** A point of a curve that rises and bends down. */
export interface CurvePoint {
  readonly x: number;
  readonly y: number;
}

/** How many average gaps along x the curve has to flatten before its bend counts; 1 is the paper's choice. */
const SENSITIVITY = 1;

/**
 * The index of the knee of a curve of which more costs more: where it bends most from steep to flat. Kneedle of
 * Satopaa, Albrecht, Irwin and Raghavan ("Finding a Kneedle in a Haystack", ICDCS workshops 2011), offline and
 * without their smoothing, which few points would not survive: both axes are scaled to [0, 1], and of y − x the
 * first local maximum that falls by the threshold before the next one is the knee. Null with fewer than three
 * points, and where the curve is straight, flat or bends upwards. `points` rise in x.
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
