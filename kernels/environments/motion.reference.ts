/** The nearest number to `value` from −bound to bound. */
export function clip(value: number, bound: number): number {
  return Math.min(Math.max(value, -bound), bound);
}

/** The angle in [−π, π] that is whole turns away. */
export function wrapAngle(angle: number): number {
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
}

/** The state `seconds` later by the classical Runge-Kutta method of fourth order (Kutta 1901). */
export function stepRungeKutta(
  state: Float64Array,
  seconds: number,
  findSlopes: (state: Float64Array) => readonly number[],
): Float64Array {
  const along = (slopes: readonly number[], time: number) =>
    state.map((number, index) => number + time * slopes[index]!);
  const first = findSlopes(state);
  const second = findSlopes(along(first, seconds / 2));
  const third = findSlopes(along(second, seconds / 2));
  const fourth = findSlopes(along(third, seconds));
  return along(
    first.map((slope, index) => (slope + 2 * second[index]! + 2 * third[index]! + fourth[index]!) / 6),
    seconds,
  );
}
