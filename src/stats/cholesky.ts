/**
 * The lower triangle L of a symmetric positive definite matrix A = L·Lᵀ, row by row (Golub and Van Loan, Matrix
 * Computations, 4.2). Only the lower triangle of A is read. Null where A is not positive definite.
 */
export function factorCholesky(matrix: readonly (readonly number[])[]): Float64Array[] | null {
  const rows: Float64Array[] = [];
  for (const [i, given] of matrix.entries()) {
    const row = new Float64Array(i + 1);
    for (let j = 0; j <= i; j++) {
      const other = j === i ? row : rows[j]!;
      let sum = given[j]!;
      for (let k = 0; k < j; k++) sum -= row[k]! * other[k]!;
      if (j < i) row[j] = sum / other[j]!;
      else if (sum > 0) row[j] = Math.sqrt(sum);
      else return null;
    }
    rows.push(row);
  }
  return rows;
}

/** x of L·x = b. */
export function solveLower(factor: readonly Float64Array[], b: ArrayLike<number>): Float64Array {
  const x = new Float64Array(factor.length);
  for (const [i, row] of factor.entries()) {
    let sum = b[i]!;
    for (let k = 0; k < i; k++) sum -= row[k]! * x[k]!;
    x[i] = sum / row[i]!;
  }
  return x;
}

/** x of Lᵀ·x = b. */
export function solveUpper(factor: readonly Float64Array[], b: ArrayLike<number>): Float64Array {
  const x = Float64Array.from(b);
  for (let i = factor.length - 1; i >= 0; i--) {
    x[i]! /= factor[i]![i]!;
    for (let k = 0; k < i; k++) x[k]! -= factor[i]![k]! * x[i]!;
  }
  return x;
}
