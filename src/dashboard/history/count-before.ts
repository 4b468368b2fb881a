/** How many of rising instants lie before one, together with those that are equal to it or without. */
export function countBefore(timesS: ArrayLike<number>, atS: number, withEqual: boolean): number {
  let [low, high] = [0, timesS.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const isBefore = withEqual ? timesS[middle]! <= atS : timesS[middle]! < atS;
    if (isBefore) low = middle + 1;
    else high = middle;
  }
  return low;
}
