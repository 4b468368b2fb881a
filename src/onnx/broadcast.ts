/** The shape that two have together, sizes of one being repeated; undefined where they do not fit. */
export function broadcast(one: readonly number[], other: readonly number[]): number[] | undefined {
  const rank = Math.max(one.length, other.length);
  const sizes = Array.from({ length: rank }, (_, axis) => {
    const [a, b] = [one[axis - rank + one.length] ?? 1, other[axis - rank + other.length] ?? 1];
    return a === b || b === 1 ? a : a === 1 ? b : Number.NaN;
  });
  return sizes.some(Number.isNaN) ? undefined : sizes;
}
