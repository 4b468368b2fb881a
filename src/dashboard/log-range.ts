/** Room on either side of what is drawn, as a factor. */
const ROOM = 1.5;
/** Factor that is drawn below the highest value where the lowest is not positive and so has no logarithm. */
const DEPTH = 1_000;

/**
 * The ends of a logarithmic axis around its values. The lower one has one significant digit: uPlot's
 * ticks never end from one of .95 to 1 times a power of ten below one.
 */
export function logRange(min: number | null, max: number | null): [number, number] {
  const highest = max !== null && max > 0 ? max : 1;
  const lowest = min !== null && min > 0 ? min : highest / DEPTH;
  return [Number((lowest / ROOM).toPrecision(1)), highest * ROOM];
}
