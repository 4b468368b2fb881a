/**
 * Jain's index of fairness: 1 where all have the same, 1/n where one has everything. NaN for no shares, or where all
 * are zero.
 * Source: Jain, Chiu and Hawe, DEC-TR-301, 1984.
 */
export function jainIndex(shares: readonly number[]): number {
  let sum = 0;
  let squares = 0;
  for (const share of shares) {
    sum += share;
    squares += share ** 2;
  }
  return sum ** 2 / (shares.length * squares);
}
