import { studentTTwoSided } from "../distribution/student-t.ts";
import { mean } from "../distribution/summary.ts";

/** A sample without its extremes. */
export interface Trimmed {
  /** Values that are left. */
  readonly count: number;
  readonly mean: number;
  /** Squared distances from their mean, of all values, the extremes drawn in to those that are left. */
  readonly squares: number;
}

interface TrimmedDifference {
  /** Mean after − mean before. */
  readonly difference: number;
  readonly standardError: number;
  readonly degreesOfFreedom: number;
  /** Two-sided; 1 where two constants are equal, and of two values. */
  readonly p: number;
}

/** Taken away at each end, rounded down: none of fewer than ten. */
const SHARE = 0.1;

/** Leaves out the highest and the lowest tenth of a sample. */
export function trimSample(values: Float64Array): Trimmed {
  const sorted = values.toSorted();
  const cut = Math.floor(SHARE * sorted.length);
  const left = sorted.subarray(cut, sorted.length - cut);
  const drawnIn = sorted.map((value) => Math.min(left.at(-1)!, Math.max(left[0]!, value)));
  const middle = mean(drawnIn);
  return {
    count: left.length,
    mean: mean(left),
    squares: drawnIn.reduce((sum, value) => sum + (value - middle) ** 2, 0),
  };
}

/**
 * The t-test of trimmed means with pooled winsorised variance (Yuen and Dixon, Biometrika 60, 1973), which heavy tails
 * neither mislead nor blind as they do Student's. The deviation is taken to be `leastDeviation` at the least.
 */
export function testTrimmed(before: Trimmed, after: Trimmed, leastDeviation: number): TrimmedDifference {
  const degreesOfFreedom = before.count + after.count - 2;
  const deviation = Math.max(leastDeviation, Math.sqrt((before.squares + after.squares) / degreesOfFreedom));
  const standardError = deviation * Math.sqrt(1 / before.count + 1 / after.count);
  const difference = after.mean - before.mean;
  const p =
    difference === 0 || degreesOfFreedom === 0 ? 1 : studentTTwoSided(difference / standardError, degreesOfFreedom);
  return { difference, standardError, degreesOfFreedom, p };
}

/** Minimum conditions of a change. */
export interface Demands {
  readonly minimumSegment: number;
  /** Share of the level before. */
  readonly minimumEffect: number;
  readonly maxP: number;
  /** No segment is taken to scatter less, in the series' unit. */
  readonly leastDeviation: number;
}

/** Two neighbouring segments, `[start, index)` and `[index, end)`. */
interface Place {
  readonly start: number;
  readonly index: number;
  readonly end: number;
}

export interface Boundary extends Place, TrimmedDifference {
  /** Trimmed means. */
  readonly from: number;
  readonly to: number;
}

/** There and back is an excursion; what goes there once more within so many points on either side flips to and fro. */
const FLIP_POINTS = 40;
const MOST_CROSSINGS = 2;

/**
 * The candidates that hold by the whole segments on either side: these are long enough, their trimmed means differ by
 * enough, and the test says that this is no chance. Each is moved to where the sum of squares is least. The weakest of
 * those that fail is taken away, and its neighbours are judged anew, until none fails. Then those go between which the
 * series flips to and fro, and what is left is judged once more.
 */
export function confirmBoundaries(
  values: Float64Array,
  candidates: readonly number[],
  demands: Demands,
): readonly Boundary[] {
  const confirmed = dropWeakest(values, candidates, demands);
  const steady = confirmed.filter((boundary) => countCrossings(boundary, confirmed) <= MOST_CROSSINGS);
  if (steady.length === confirmed.length) return confirmed;
  return dropWeakest(
    values,
    steady.map(({ index }) => index),
    demands,
  );
}

function dropWeakest(values: Float64Array, candidates: readonly number[], demands: Demands): readonly Boundary[] {
  const place = remember((where) => placeBoundary(values, where, demands.minimumSegment));
  const judge = remember((where) => judgeBoundary(values, where, demands));
  let indices = candidates;
  for (;;) {
    const moved = withNeighbours(indices, values.length).map(place);
    const boundaries = withNeighbours(moved, values.length).map(judge);
    const failing = boundaries.filter((boundary) => !holds(boundary, demands));
    if (failing.length === 0) return boundaries;
    const weakest = failing.reduce((worst, next) => (next.p > worst.p ? next : worst));
    indices = boundaries.filter((boundary) => boundary !== weakest).map(({ index }) => index);
  }
}

function withNeighbours(indices: readonly number[], length: number): readonly Place[] {
  return indices.map((index, at) => ({ start: indices[at - 1] ?? 0, index, end: indices[at + 1] ?? length }));
}

/** Computes once for each place: when a boundary goes, only its neighbours' places are new. */
function remember<T>(compute: (place: Place) => T): (place: Place) => T {
  const known = new Map<string, T>();
  return (place) => {
    const key = `${place.start} ${place.index} ${place.end}`;
    const value = known.get(key) ?? compute(place);
    known.set(key, value);
    return value;
  };
}

function judgeBoundary(values: Float64Array, place: Place, { leastDeviation }: Demands): Boundary {
  const before = trimSample(values.subarray(place.start, place.index));
  const after = trimSample(values.subarray(place.index, place.end));
  return { ...testTrimmed(before, after, leastDeviation), ...place, from: before.mean, to: after.mean };
}

/** Whether `[start, index)` and `[index, end)` differ enough and hold enough values. */
export function meets(values: Float64Array, place: Place, demands: Demands): boolean {
  return holds(judgeBoundary(values, place, demands), demands);
}

function holds({ start, index, end, from, difference, p }: Boundary, demands: Demands): boolean {
  return (
    Math.min(index - start, end - index) >= demands.minimumSegment &&
    Math.abs(difference) >= demands.minimumEffect * Math.abs(from) &&
    p <= demands.maxP
  );
}

/**
 * Boundary with the least sum of squares around two levels in `[start, end)`, both at least as long as a segment;
 * `index` itself where there is no room.
 */
function placeBoundary(values: Float64Array, { start, index, end }: Place, shortest: number): number {
  const segment = values.subarray(start, end);
  const total = segment.reduce((sum, value) => sum + value - segment[0]!, 0);
  let best = { index, explained: -1 };
  let sum = 0;
  for (let before = 1; before <= segment.length - shortest; before++) {
    sum += segment[before - 1]! - segment[0]!;
    if (before < shortest) continue;
    const after = segment.length - before;
    const explained = ((before * after) / segment.length) * (sum / before - (total - sum) / after) ** 2;
    if (explained > best.explained) best = { index: start + before, explained };
  }
  return best.index;
}

/** Number of nearby boundaries, this one included, that cross the middle between this one's levels. */
function countCrossings({ index, from, to }: Boundary, all: readonly Boundary[]): number {
  const middle = (from + to) / 2;
  return all.filter(
    (other) => Math.abs(other.index - index) <= FLIP_POINTS && other.from < middle !== other.to < middle,
  ).length;
}
