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
