/** W = U·diag(S)·Vᵀ of an m × n matrix, with k = min(m, n). */
export interface SingularValues {
  /** k columns of m numbers, orthonormal where the singular value is larger than rounding errors. */
  readonly left: readonly Float64Array[];
  /** k values, the largest first. */
  readonly values: Float64Array;
  /** k columns of n numbers, likewise. */
  readonly right: readonly Float64Array[];
}

/** Cosine below which two columns are orthogonal; a little above the precision of float64. */
const ORTHOGONAL = 1e-15;
/** Limit of Jacobi sweeps, which converge quadratically: about ten are needed. */
const MAX_SWEEPS = 60;

/**
 * Singular value decomposition by one-sided Jacobi rotations: columns are rotated in pairs until all are orthogonal;
 * their lengths are then the singular values. Takes m·n²·sweeps steps, n being the smaller side. `matrix` is row by
 * row.
 * Source: Hestenes 1958; Golub and Van Loan, Matrix Computations, 8.6.3.
 */
export function decompose(matrix: ArrayLike<number>, rows: number, columns: number): SingularValues {
  if (rows < columns) {
    const transposed = Float64Array.from({ length: rows * columns }, (_, place) => {
      const [column, row] = [Math.floor(place / rows), place % rows];
      return matrix[row * columns + column]!;
    });
    const { left, values, right } = decompose(transposed, columns, rows);
    return { left: right, values, right: left };
  }
  const turned = Array.from({ length: columns }, (_, column) =>
    Float64Array.from({ length: rows }, (_each, row) => matrix[row * columns + column]!),
  );
  const right = Array.from({ length: columns }, (_, column) => new Float64Array(columns).fill(1, column, column + 1));
  const norm = Math.sqrt(turned.reduce((sum, column) => sum + dot(column, column), 0));
  const nothing = (Number.EPSILON * norm) ** 2;
  for (let sweep = 0; sweep < MAX_SWEEPS && turnAll(turned, right, nothing); sweep++);
  return sortBySize(turned, right);
}

/**
 * One sweep over all pairs of columns; returns whether any was not orthogonal yet. A column whose square is `nothing`
 * or less is a rounding error without a direction.
 */
function turnAll(columns: readonly Float64Array[], right: readonly Float64Array[], nothing: number): boolean {
  const squares = Float64Array.from(columns, (column) => dot(column, column));
  let turned = false;
  for (let p = 0; p < columns.length - 1; p++) {
    for (let q = p + 1; q < columns.length; q++) {
      if (squares[p]! <= nothing || squares[q]! <= nothing) continue;
      const both = dot(columns[p]!, columns[q]!);
      if (Math.abs(both) <= ORTHOGONAL * Math.sqrt(squares[p]! * squares[q]!)) continue;
      turned = true;
      const zeta = (squares[q]! - squares[p]!) / (2 * both);
      const tangent = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
      const cosine = 1 / Math.hypot(1, tangent);
      turn(columns[p]!, columns[q]!, cosine, cosine * tangent);
      turn(right[p]!, right[q]!, cosine, cosine * tangent);
      squares[p] = dot(columns[p]!, columns[p]!);
      squares[q] = dot(columns[q]!, columns[q]!);
    }
  }
  return turned;
}

function turn(one: Float64Array, other: Float64Array, cosine: number, sine: number): void {
  for (let row = 0; row < one.length; row++) {
    const [x, y] = [one[row]!, other[row]!];
    one[row] = cosine * x - sine * y;
    other[row] = sine * x + cosine * y;
  }
}

function sortBySize(columns: readonly Float64Array[], right: readonly Float64Array[]): SingularValues {
  const lengths = columns.map((column) => Math.sqrt(dot(column, column)));
  const order = lengths.map((_, index) => index).toSorted((one, other) => lengths[other]! - lengths[one]!);
  return {
    left: order.map((index) => columns[index]!.map((value) => (lengths[index]! > 0 ? value / lengths[index]! : 0))),
    values: Float64Array.from(order, (index) => lengths[index]!),
    right: order.map((index) => right[index]!),
  };
}

function dot(one: Float64Array, other: Float64Array): number {
  let sum = 0;
  for (let row = 0; row < one.length; row++) sum += one[row]! * other[row]!;
  return sum;
}
