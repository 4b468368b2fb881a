/** Which way an objective is better. */
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

/** Whether it is no worse anywhere, and better somewhere or the earlier of two that are equal. */
function beats(other: readonly number[], own: readonly number[], isEarlier: boolean): boolean {
  let isBetter = isEarlier;
  for (const [index, cost] of own.entries()) {
    const difference = (other[index] ?? Number.NaN) - cost;
    if (difference > 0) return false;
    if (difference < 0) isBetter = true;
  }
  return isBetter;
}
