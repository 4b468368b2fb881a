/** Rows and columns of a block that stays in a cache while it is read by rows and written by columns. */
const BLOCK = 64;

/**
 * The columns of a row-major matrix one after the other, in f32. A reference that sums along a column of a large matrix
 * spends nearly all of its time on cache misses otherwise.
 */
export function listColumns(matrix: ArrayLike<number>, rows: number, columns: number): Float32Array<ArrayBuffer> {
  const listed = new Float32Array(rows * columns);
  for (let top = 0; top < rows; top += BLOCK) {
    for (let left = 0; left < columns; left += BLOCK) {
      const [bottom, right] = [Math.min(rows, top + BLOCK), Math.min(columns, left + BLOCK)];
      for (let row = top; row < bottom; row++) {
        for (let column = left; column < right; column++) listed[column * rows + row] = matrix[row * columns + column]!;
      }
    }
  }
  return listed;
}
