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
 * complete at `last` or after: a grid of 16 × 16 places, each a linear regression on the share of the slope that is done,
 * from running sums.
 */
export function fitRamp(values: Float64Array, start: number, first: number, last: number, end: number): Ramp {
  const segment = values.subarray(start, end);
  const sums = accumulate(segment);
  const ramps = spread(1, first - start).flatMap((from) =>
    spread(last - start, segment.length).map((to) => regress(sums, from, to)),
  );
  const best = ramps.reduce((least, ramp) => (ramp.squares < least.squares ? ramp : least));
  const [origin] = segment;
  return {
    ...best,
    start: start + best.start,
    end: start + best.end,
    from: origin! + best.from,
    to: origin! + best.to,
  };
}

/** Up to 16 whole numbers from `low` to `high`, evenly apart. */
function spread(low: number, high: number): readonly number[] {
  const count = Math.min(PLACES, high - low + 1);
  return Array.from({ length: count }, (_, at) => Math.round(low + ((high - low) * at) / Math.max(1, count - 1)));
}

interface Sums {
  /** By count: of the first values, less the first one so that a large level does not drown the noise. */
  readonly plain: Float64Array;
  /** By count: of the first values times their places. */
  readonly placed: Float64Array;
  /** Of all values squared. */
  readonly squares: number;
}

function accumulate(segment: Float64Array): Sums {
  const plain = new Float64Array(segment.length + 1);
  const placed = new Float64Array(segment.length + 1);
  let squares = 0;
  for (const [at, absolute] of segment.entries()) {
    const value = absolute - segment[0]!;
    plain[at + 1] = plain[at]! + value;
    placed[at + 1] = placed[at]! + value * at;
    squares += value * value;
  }
  return { plain, placed, squares };
}

/** Between `from` and `to` shares rise by 1/(m + 1) each of m values, and are 1 from then on. */
function regress({ plain, placed, squares }: Sums, from: number, to: number): Ramp {
  const count = plain.length - 1;
  const sloping = to - from;
  const done = count - to;
  const y = plain[count]!;
  const x = sloping / 2 + done;
  const xx = (sloping * (2 * sloping + 1)) / (6 * (sloping + 1)) + done;
  const ofSlope = placed[to]! - placed[from]! - (from - 1) * (plain[to]! - plain[from]!);
  const xy = ofSlope / (sloping + 1) + (y - plain[to]!);
  const spreadOfX = xx - (x * x) / count;
  const size = (xy - (x * y) / count) / spreadOfX;
  const level = (y - size * x) / count;
  const left = Math.max(0, squares - (y * y) / count - size * size * spreadOfX);
  const standardError = Math.sqrt(left / (count - 4) / spreadOfX);
  return { start: from, end: to, from: level, to: level + size, standardError, squares: left };
}
