import { bucketValue, scanSketch, type Sketch } from "./sketch.ts";

/** Counts of the buckets of one sign, side by side: `counts[i]` is of the bucket with the index `firstIndex + i`. */
interface Row {
  counts: Float64Array;
  firstIndex: number;
  /** Places that may hold something: [low, high). */
  low: number;
  high: number;
}

/**
 * A sum of sketches that is made for adding many texts: five to ten times quicker than decoding each, with the same
 * result to the last digit. It is meant to be cleared and used again.
 */
export interface SketchSum {
  readonly positive: Row;
  readonly negative: Row;
  zeros: number;
  count: number;
}

/** Buckets that a row first has room for: values within a factor of 13. */
const FIRST_BUCKETS = 256;

function createRow(): Row {
  return { counts: new Float64Array(0), firstIndex: 0, low: 0, high: 0 };
}

export function createSketchSum(): SketchSum {
  return { positive: createRow(), negative: createRow(), zeros: 0, count: 0 };
}

/** Makes a sum empty and keeps its room. */
export function clearSketchSum(sum: SketchSum): void {
  for (const row of [sum.positive, sum.negative]) {
    row.counts.fill(0, row.low, row.high);
    row.low = row.high = 0;
  }
  sum.zeros = 0;
  sum.count = 0;
}

/** Adds a sketch by its text. One that is none throws a RangeError, and then the sum is of no use any more. */
export function addSketchText(sum: SketchSum, text: string): void {
  const { positive, negative } = sum;
  let added = 0;
  const zeros = scanSketch(text, (isPositive, index, count) => {
    const row = isPositive ? positive : negative;
    let place = index - row.firstIndex;
    if (place < 0 || place >= row.counts.length) {
      makeRoom(row, index);
      place = index - row.firstIndex;
    }
    row.counts[place] = (row.counts[place] ?? 0) + count;
    if (row.low === row.high) {
      row.low = place;
      row.high = place + 1;
    } else if (place < row.low) row.low = place;
    else if (place >= row.high) row.high = place + 1;
    added += count;
  });
  sum.zeros += zeros;
  sum.count += added + zeros;
}

/** Room for one more bucket, and as much again as there was on that side: so room is made seldom. */
function makeRoom(row: Row, index: number): void {
  const { counts, low, high } = row;
  if (low === high) {
    if (counts.length === 0) row.counts = new Float64Array(FIRST_BUCKETS);
    row.firstIndex = index - row.counts.length / 2;
    return;
  }
  const [lowIndex, highIndex] = [row.firstIndex + low, row.firstIndex + high];
  const spare = Math.max(counts.length, FIRST_BUCKETS);
  const firstIndex = index < row.firstIndex ? index - spare : row.firstIndex;
  const endIndex = Math.max(index + spare, highIndex);
  const grown = new Float64Array(2 * Math.ceil((endIndex - firstIndex) / 2));
  grown.set(counts.subarray(low, high), lowIndex - firstIndex);
  row.counts = grown;
  row.firstIndex = firstIndex;
  row.low = lowIndex - firstIndex;
  row.high = highIndex - firstIndex;
}

/** The sum as a sketch of its own. */
export function toSketch({ positive, negative, zeros, count }: SketchSum): Sketch {
  return { positive: new Map(bucketsOf(positive)), negative: new Map(bucketsOf(negative)), zeros, count };
}

/** Buckets that hold something, by rising index. */
function bucketsOf({ counts, firstIndex, low, high }: Row): [index: number, count: number][] {
  const buckets: [number, number][] = [];
  for (let place = low; place < high; place++) {
    const count = counts[place] ?? 0;
    if (count > 0) buckets.push([firstIndex + place, count]);
  }
  return buckets;
}

/** Buckets of the text that is read now, positive ones first: reading is never interrupted. */
let indices = new Float64Array(FIRST_BUCKETS);
let counts = new Float64Array(FIRST_BUCKETS);

/** Quantiles of one text: those that a sum of it alone gives, without its room to clear and search. */
export function textQuantiles(text: string, ps: readonly number[]): number[] {
  // A bucket takes two bytes at least.
  if (indices.length < text.length) [indices, counts] = [new Float64Array(text.length), new Float64Array(text.length)];
  let [buckets, positives, total] = [0, 0, 0];
  const zeros = scanSketch(text, (isPositive, index, count) => {
    indices[buckets] = index;
    counts[buckets++] = count;
    if (isPositive) positives++;
    total += count;
  });
  total += zeros;
  if (total === 0) return ps.map(() => Number.NaN);
  const negatives = buckets - positives;
  // By value: the largest magnitudes below zero first.
  const countAt = (place: number) =>
    place < negatives ? counts[buckets - 1 - place]! : place === negatives ? zeros : counts[place - negatives - 1]!;
  const valueAt = (place: number) =>
    place < negatives
      ? -bucketValue(indices[buckets - 1 - place]!)
      : place === negatives
        ? 0
        : bucketValue(indices[place - negatives - 1]!);
  const largestAt = positives > 0 ? buckets : zeros > 0 ? negatives : negatives - 1;
  return findRanks(ps, total, buckets + 1, countAt).map((place) => valueAt(Math.min(place, largestAt)));
}

/**
 * Place of each share's rank among counts in order of value, in the order asked for; at or above the last rank, the
 * number of places. Ranks that rise, as they mostly do, take one pass.
 */
function findRanks(ps: readonly number[], total: number, places: number, countAt: (place: number) => number): number[] {
  let [place, below, last] = [-1, 0, Number.NEGATIVE_INFINITY];
  return ps.map((p) => {
    const rank = total * p;
    if (rank < last) [place, below] = [-1, 0];
    last = rank;
    while (below <= rank && place < places) below += ++place < places ? countAt(place) : 0;
    return place;
  });
}

/** Several quantiles at once, in the order asked for: those that `sketchQuantiles` gives of the same sketch. */
export function sumQuantiles(sum: SketchSum, ps: readonly number[]): number[] {
  const { positive, negative, zeros, count } = sum;
  if (count === 0) return ps.map(() => Number.NaN);
  const negatives = negative.high - negative.low;
  const places = negatives + 1 + positive.high - positive.low;
  const countAt = (place: number) =>
    place < negatives
      ? negative.counts[negative.high - 1 - place]!
      : place === negatives
        ? zeros
        : positive.counts[positive.low + place - negatives - 1]!;
  return findRanks(ps, count, places, countAt).map((place) => {
    // Ranks at or above the last one are the largest value.
    if (place >= places) return largest(sum);
    if (place < negatives) return -bucketValue(negative.firstIndex + negative.high - 1 - place);
    return place === negatives ? 0 : bucketValue(positive.firstIndex + positive.low + place - negatives - 1);
  });
}

/** Value of the last bucket that holds something. */
function largest({ positive, negative, zeros }: SketchSum): number {
  if (positive.high > positive.low) return bucketValue(positive.firstIndex + positive.high - 1);
  return zeros > 0 ? 0 : -bucketValue(negative.firstIndex + negative.low);
}
