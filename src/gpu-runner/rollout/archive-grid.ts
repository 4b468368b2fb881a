import type { ArchiveGrid } from "./archive.ts";

const float = new Float32Array(1);
const word = new Uint32Array(float.buffer);
const SIGN = 0x80000000;

/** f32 as a word of the same order; zeros are equal. Integers can be compared and exchanged atomically. */
export function toFloatOrder(value: number): number {
  float[0] = value + 0;
  const bits = word[0]!;
  return (bits >= SIGN ? ~bits : bits | SIGN) >>> 0;
}

export function fromFloatOrder(order: number): number {
  word[0] = order >= SIGN ? order ^ SIGN : ~order;
  return float[0]!;
}

/** Added before the division, so that rounding does not move a measure on an edge to the cell below (pyribs). */
const EPSILON = Math.fround(1e-6);

export function countCells({ dims }: Pick<ArchiveGrid, "dims">): number {
  return dims.reduce((product, size) => product * size, 1);
}

/**
 * Number of the cell of the measures (f32) in `measures` at `at`, or -1 where one is not finite: clip(trunc((dims·(m −
 * low) + 1e-6)/(high − low)), 0, dims − 1), rounded like pyribs' float32 GridArchive.
 */
export function createLocator({ dims, ranges }: ArchiveGrid): (measures: Float32Array, at: number) => number {
  const axes = dims.map((_, axis) => createAxis(dims[axis]!, ranges[axis]!));
  return (measures, at) => {
    let cell = 0;
    for (let axis = 0; axis < dims.length; axis++) {
      const measure = measures[at + axis]!;
      if (!Number.isFinite(measure)) return -1;
      cell = cell * dims[axis]! + axes[axis]!(measure);
    }
    return cell;
  };
}

/**
 * For each axis the smallest measure (f32) of its cells 1, 2, … in turn, one axis after the other. A GPU compares
 * measures with these edges, since its own division may round differently.
 */
export function listEdges({ dims, ranges }: ArchiveGrid): Float32Array<ArrayBuffer> {
  const edges = dims.map((size, axis) => {
    const index = createAxis(size, ranges[axis]!);
    return Float32Array.from({ length: size - 1 }, (_, cell) => firstOf(index, cell + 1));
  });
  return Float32Array.from(edges.flatMap((axis) => [...axis]));
}

function createAxis(size: number, range: ArchiveGrid["ranges"][number]): (measure: number) => number {
  const low = Math.fround(range.low);
  const span = Math.fround(Math.fround(range.high) - low);
  return (measure) => {
    const index = Math.trunc((size * Math.fround(measure - low) + EPSILON) / span);
    return index < 0 ? 0 : index >= size ? size - 1 : index;
  };
}

/** Smallest float in a cell, found by bisection: the index never decreases. */
function firstOf(index: (measure: number) => number, cell: number): number {
  let below = toFloatOrder(Number.NEGATIVE_INFINITY);
  let found = toFloatOrder(Number.POSITIVE_INFINITY);
  while (found - below > 1) {
    const middle = Math.floor((below + found) / 2);
    if (index(fromFloatOrder(middle)) >= cell) found = middle;
    else below = middle;
  }
  return fromFloatOrder(found);
}
