import type { ArchiveGrid } from "./archive.ts";

const float = new Float32Array(1);
const word = new Uint32Array(float.buffer);
const SIGN = 0x80000000;

/** A word for a float (f32), larger where the float is; zeros are equal. Integers can be compared and exchanged atomically. */
export function toFloatOrder(value: number): number {
  float[0] = value + 0;
  const bits = word[0]!;
  return (bits >= SIGN ? ~bits : bits | SIGN) >>> 0;
}

export function fromFloatOrder(order: number): number {
  word[0] = order >= SIGN ? order ^ SIGN : ~order;
  return float[0]!;
}

/** Added before the division, so that a measure on an edge is not thrown below it by rounding (pyribs). */
const EPSILON = Math.fround(1e-6);

export function countCells({ dims }: Pick<ArchiveGrid, "dims">): number {
  return dims.reduce((product, size) => product * size, 1);
}

/**
 * The number of the cell of measures (f32) that stand in `measures` from `at` on, or -1 where one is not finite:
 * clip(trunc((dims·(m − low) + 1e-6)/(high − low)), 0, dims − 1), as pyribs' GridArchive of float32 rounds it.
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
 * For each axis the smallest measure (f32) that belongs to its cell 1, 2, … and so on, one axis behind the other. What a
 * GPU compares measures with: its own division need not round as others do.
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

/** The smallest float that `index` gives a cell, found by halving: the index never falls. */
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
