/** Blocks this long are summed by lanes; longer ones are halved. */
const BLOCK = 128;
const LANES = 8;

/**
 * The sum of `values[start, end)` in the order in which NumPy adds a contiguous array: halves until 128 are left,
 * eight running sums in each. Its rounding error grows with log n (Higham, "The accuracy of floating point
 * summation", SIAM J. Sci. Comput. 14, 1993); to the last bit NumPy's, so that decisions on a knife's edge fall alike.
 */
export function pairwiseSum(values: ArrayLike<number>, start: number, end: number): number {
  const length = end - start;
  if (length > BLOCK) {
    const half = Math.floor(length / 2);
    const middle = start + half - (half % LANES);
    return pairwiseSum(values, start, middle) + pairwiseSum(values, middle, end);
  }
  let sum = 0;
  let next = start;
  if (length >= LANES) {
    const lanes = Array.from({ length: LANES }, (_, lane) => values[start + lane]!);
    for (next += LANES; next + LANES <= end; next += LANES) {
      for (let lane = 0; lane < LANES; lane++) lanes[lane]! += values[next + lane]!;
    }
    const [a, b, c, d, e, f, g, h] = lanes as [number, number, number, number, number, number, number, number];
    sum = a + b + (c + d) + (e + f + (g + h));
  }
  for (; next < end; next++) sum += values[next]!;
  return sum;
}
