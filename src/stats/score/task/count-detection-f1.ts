import { type CountedMetric, countRatio, rowOf, type TaskTensor, widthOf } from "./task-tensor.ts";

/** Centre and size in shares of the picture. */
type Box = readonly [x: number, y: number, width: number, height: number];

/** Intersection over union: boxes that overlap by more are one, and one that is found has to overlap by so much. */
const OVERLAP = 0.5;
const CHANNELS = 5;

/** Pairs of boxes that may meet: all cells of a sample with each other and with its target. */
export const MAX_BOX_PAIRS = 2 ** 30;

/**
 * F1 of all boxes of all samples. The output [n, 5, rows, columns] has for each cell a score, the centre within the cell
 * and the size; a cell whose score is above 0 is a box, unless it overlaps with one of a higher score. The target is
 * [n, most, 4], of width 0 where there is none. From the highest score down, a box takes the one of those that are left
 * which it fits best. Throws a RangeError where there are too many.
 */
export function countDetectionF1(output: TaskTensor, target: TaskTensor): CountedMetric {
  const [, channels, rows, columns] = output.shape;
  if (channels !== CHANNELS || rows === undefined || columns === undefined || target.shape.at(-1) !== 4)
    throw new RangeError("boxes are read of an output [n, 5, rows, columns] and a target [n, most, 4]");
  const cells = rows * columns;
  const pairs = target.shape[0]! * cells * (cells + widthOf(target) / 4);
  if (pairs > MAX_BOX_PAIRS)
    throw new RangeError(`at most ${MAX_BOX_PAIRS} boxes are compared, and these are ${pairs}`);
  const samples = Array.from({ length: target.shape[0]! }, (_, sample) => {
    const found = findBoxes(rowOf(output, sample), rows, columns);
    const wanted = listBoxes(rowOf(target, sample));
    return { hits: countHits(found, wanted), boxes: found.length + wanted.length };
  });
  return countRatio(
    Float64Array.from(samples, ({ hits }) => 2 * hits),
    Float64Array.from(samples, ({ boxes }) => boxes),
  );
}

/** The highest scores first. */
function findBoxes(grid: Float32Array, rows: number, columns: number): Box[] {
  const cells = rows * columns;
  const byScore = [...new Uint32Array(cells).keys()]
    .filter((cell) => grid[cell]! > 0)
    .toSorted((a, b) => grid[b]! - grid[a]!);
  const kept: Box[] = [];
  for (const cell of byScore) {
    const [x, y, width, height] = [1, 2, 3, 4].map((channel) => grid[channel * cells + cell]!) as [...Box];
    const box: Box = [((cell % columns) + x) / columns, (Math.floor(cell / columns) + y) / rows, width, height];
    if (kept.every((other) => overlapOf(box, other) <= OVERLAP)) kept.push(box);
  }
  return kept;
}

function listBoxes(row: Float32Array): Box[] {
  const boxes = Array.from({ length: row.length / 4 }, (_, at) => [...row.subarray(4 * at, 4 * at + 4)] as [...Box]);
  return boxes.filter(([, , width]) => width > 0);
}

function countHits(found: readonly Box[], wanted: readonly Box[]): number {
  const left = new Set(wanted);
  for (const box of found) {
    const best = [...left].toSorted((a, b) => overlapOf(box, b) - overlapOf(box, a))[0];
    if (best !== undefined && overlapOf(box, best) >= OVERLAP) left.delete(best);
  }
  return wanted.length - left.size;
}

function overlapOf(a: Box, b: Box): number {
  const shared = overlapAlong(a, b, 0) * overlapAlong(a, b, 1);
  const either = a[2] * a[3] + b[2] * b[3] - shared;
  return either > 0 ? shared / either : 0;
}

function overlapAlong(a: Box, b: Box, axis: 0 | 1): number {
  const [sizeOfA, sizeOfB] = [a[axis + 2]!, b[axis + 2]!];
  const low = Math.max(a[axis] - sizeOfA / 2, b[axis] - sizeOfB / 2);
  const high = Math.min(a[axis] + sizeOfA / 2, b[axis] + sizeOfB / 2);
  return Math.max(0, high - low);
}
