/** Level, slope, level: from `start` of the slope to `end`, the first value that has the second level in full. */
export interface Ramp {
  readonly start: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
  readonly standardError: number;
  /** Of the residuals. */
  readonly squares: number;
}

/** How many places each end of the slope is tried at. */
const PLACES = 16;

/**
 * The ramp that leaves the least sum of squares in `[start, end)`, among those that begin at `first` or before and are
 * complete at `last` or after: a grid of 16 × 16 places, each a linear regression on the share of the slope that is done.
 */
export function fitRamp(values: Float64Array, start: number, first: number, last: number, end: number): Ramp {
  const places = (from: number, to: number) => {
    const count = Math.min(PLACES, to - from + 1);
    return Array.from({ length: count }, (_, at) => Math.round(from + ((to - from) * at) / Math.max(1, count - 1)));
  };
  return places(start + 1, first)
    .flatMap((from) => places(last, end).map((to) => regress(values, start, from, to, end)))
    .reduce((best, ramp) => (ramp.squares < best.squares ? ramp : best));
}

function regress(values: Float64Array, start: number, from: number, to: number, end: number): Ramp {
  const count = end - start;
  // Relative to the first value, so that squares of a large level do not drown those of the noise.
  const origin = values[start]!;
  let [x, y, xx, xy, yy] = [0, 0, 0, 0, 0];
  for (let at = start; at < end; at++) {
    const done = Math.min(1, Math.max(0, (at - from + 1) / (to - from + 1)));
    const value = values[at]! - origin;
    x += done;
    y += value;
    xx += done * done;
    xy += done * value;
    yy += value * value;
  }
  const spread = xx - (x * x) / count;
  const size = (xy - (x * y) / count) / spread;
  const level = (y - size * x) / count;
  const squares = Math.max(0, yy - (y * y) / count - size * size * spread);
  const standardError = Math.sqrt(squares / (count - 4) / spread);
  return { start: from, end: to, from: origin + level, to: origin + level + size, standardError, squares };
}
