import type { PointColumns } from "./read-every-point.ts";
import type { TimeSpan } from "./time-span.ts";

/** Number of ascending instants before `atS`; `withEqual` also counts those equal to it. */
export function countBefore(timesS: ArrayLike<number>, atS: number, withEqual: boolean): number {
  let [low, high] = [0, timesS.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const isBefore = withEqual ? timesS[middle]! <= atS : timesS[middle]! < atS;
    if (isBefore) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Columns as they are drawn: instants, then a column a percentile. */
export type DrawnColumns = readonly [timesS: Float64Array, ...values: Float64Array[]];

/** Columns of fewer entries: a bucket of points is two of them, with its smallest and its largest values. */
interface Level {
  readonly pointsPerBucket: number;
  readonly columns: DrawnColumns;
}

/** Points of the first level's buckets; a level halves the one before. */
const FIRST_BUCKET = 8;
/** A level of fewer buckets is of no use: no plot has fewer pixels. */
const FEWEST_BUCKETS = 128;

/**
 * Points and thinner and thinner columns of them, half as many entries again in all. Nothing that stands out is lost:
 * each bucket keeps the extremes of every percentile.
 */
export function thinColumns({ timesS, percentiles }: Pick<PointColumns, "timesS" | "percentiles">): Level[] {
  const levels: Level[] = [{ pointsPerBucket: 1, columns: [timesS, ...percentiles] }];
  for (let size = FIRST_BUCKET; timesS.length / size >= FEWEST_BUCKETS; size *= 2) {
    const before = levels.at(-1)!;
    // Of the points themselves so many are a bucket; of a level two buckets, which are four entries.
    const entries = before.pointsPerBucket === 1 ? FIRST_BUCKET : 4;
    levels.push({ pointsPerBucket: size, columns: thin(before.columns, entries) });
  }
  return levels;
}

function thin([timesS, ...values]: DrawnColumns, entries: number): DrawnColumns {
  const buckets = Math.ceil(timesS.length / entries);
  const ends = new Float64Array(2 * buckets);
  const extremes = values.map(() => new Float64Array(2 * buckets));
  for (let bucket = 0; bucket < buckets; bucket++) {
    const first = bucket * entries;
    const last = Math.min(timesS.length, first + entries) - 1;
    ends[2 * bucket] = timesS[first]!;
    ends[2 * bucket + 1] = timesS[last]!;
    for (const [index, column] of values.entries()) {
      let [low, high] = [column[first]!, column[first]!];
      for (let place = first + 1; place <= last; place++) {
        low = Math.min(low, column[place]!);
        high = Math.max(high, column[place]!);
      }
      extremes[index]![2 * bucket] = low;
      extremes[index]![2 * bucket + 1] = high;
    }
  }
  return [ends, ...extremes];
}

const NO_LEVEL: Level = { pointsPerBucket: 1, columns: [new Float64Array()] };

/** The thinnest level that still has a bucket of a span for each of so many pixels. */
export function chooseLevel(levels: readonly Level[], [fromS, toS]: TimeSpan, widthPx: number): Level {
  const [whole = NO_LEVEL] = levels;
  const points = countBefore(whole.columns[0], toS, true) - countBefore(whole.columns[0], fromS, false);
  return levels.findLast(({ pointsPerBucket }) => points / pointsPerBucket >= widthPx) ?? whole;
}

/** Columns to draw for a span of this width in pixels, with one entry beyond each end. */
export function cutColumns(levels: readonly Level[], span: TimeSpan, widthPx: number): DrawnColumns {
  const { columns } = chooseLevel(levels, span, widthPx);
  const [fromS, toS] = span;
  // Even: the two entries of a bucket stay neighbours.
  const first = Math.max(0, countBefore(columns[0], fromS, false) - 2) & ~1;
  const last = countBefore(columns[0], toS, true) + 2;
  const [timesS, ...values] = columns.map((column) => column.subarray(first, last));
  return [timesS!, ...values];
}
