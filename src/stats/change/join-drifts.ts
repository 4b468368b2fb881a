import { studentTTwoSided } from "../distribution/student-t.ts";
import type { Boundary } from "./confirm-boundaries.ts";

/** Level, slope, level: from `start` of the slope to `end`, the first value that has the second level in full. */
export interface Ramp {
  readonly start: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
  readonly standardError: number;
  /** Sum of squared residuals. */
  readonly squares: number;
}

/** Number of positions tried for each end of the slope. */
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
  /** By count: sum of the first values minus the first one, so that a large level does not drown the noise. */
  readonly plain: Float64Array;
  /** By count: sum of the first values times their positions. */
  readonly placed: Float64Array;
  /** Sum of all squared values. */
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

/** A boundary, or a slope in the place of several: level before from `start`, level after until `end`. */
export interface Transition extends Omit<Boundary, "difference"> {
  readonly kind: "step" | "drift";
  /** First value at the full new level; at most `end`. */
  readonly completeIndex: number;
}

/**
 * Preference for a slope that Bayes' information criterion must show.
 * "Very strong" in Kass and Raftery, JASA 90, 1995.
 */
const VERY_STRONG = 10;
const RAMP_PARAMETERS = 4;

/**
 * Boundaries in order, where each run of them in one direction, the longest first, that a slope explains better than
 * levels is one drift. A slope is at least `shortest` values long.
 */
export function joinDrifts(
  values: Float64Array,
  boundaries: readonly Boundary[],
  shortest: number,
): readonly Transition[] {
  const [first] = boundaries;
  if (first === undefined) return [];
  const turn = boundaries.findIndex(({ difference }) => Math.sign(difference) !== Math.sign(first.difference));
  const longest = turn < 0 ? boundaries.length : turn;
  for (let length = longest; length > 0; length--) {
    const drift = findDrift(values, boundaries.slice(0, length), shortest);
    if (drift !== null) return [drift, ...joinDrifts(values, boundaries.slice(length), shortest)];
  }
  const step = { ...first, kind: "step", completeIndex: first.index } as const;
  return [step, ...joinDrifts(values, boundaries.slice(1), shortest)];
}

function findDrift(values: Float64Array, steps: readonly Boundary[], shortest: number): Transition | null {
  const [first, last] = [steps[0]!, steps.at(-1)!];
  const count = last.end - first.start;
  const ramp = fitRamp(values, first.start, first.index, last.index, last.end);
  if (ramp.end - ramp.start < shortest) return null;
  const edges = [first.start, ...steps.map(({ index }) => index), last.end];
  const squares = edges.slice(1).reduce((sum, end, at) => sum + sumSquares(values.subarray(edges[at], end)), 0);
  // A place for each step, and a level for each segment.
  const parameters = 2 * steps.length + 1;
  const preference = count * Math.log(squares / ramp.squares) + (parameters - RAMP_PARAMETERS) * Math.log(count);
  if (!(preference > VERY_STRONG)) return null;
  const degreesOfFreedom = count - RAMP_PARAMETERS;
  return {
    kind: "drift",
    start: first.start,
    index: ramp.start,
    completeIndex: ramp.end,
    end: last.end,
    from: ramp.from,
    to: ramp.to,
    standardError: ramp.standardError,
    degreesOfFreedom,
    p: studentTTwoSided((ramp.to - ramp.from) / ramp.standardError, degreesOfFreedom),
  };
}

function sumSquares(values: Float64Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
}
