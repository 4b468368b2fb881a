const MULTIPLIER_0 = 0xd2511f53;
const MULTIPLIER_1 = 0xcd9e8d57;
const WEYL_0 = 0x9e3779b9;
const WEYL_1 = 0xbb67ae85;
const ROUNDS = 10;

/**
 * Four random words of 32 bits for a counter and a key: Philox4x32-10 (Salmon et al., "Parallel random
 * numbers: as easy as 1, 2, 3", SC 2011). The same words for the same input, in any order of asking.
 */
export function philox4x32(
  counter: readonly [number, number, number, number],
  key: readonly [number, number],
): [number, number, number, number] {
  let [c0, c1, c2, c3] = counter.map((word) => word >>> 0) as [number, number, number, number];
  let [k0, k1] = [key[0] >>> 0, key[1] >>> 0];
  for (let round = 0; round < ROUNDS; round++) {
    const high0 = multiplyHigh(MULTIPLIER_0, c0);
    const high1 = multiplyHigh(MULTIPLIER_1, c2);
    const low0 = Math.imul(MULTIPLIER_0, c0) >>> 0;
    const low1 = Math.imul(MULTIPLIER_1, c2) >>> 0;
    [c0, c1, c2, c3] = [(high1 ^ c1 ^ k0) >>> 0, low1, (high0 ^ c3 ^ k1) >>> 0, low0];
    [k0, k1] = [(k0 + WEYL_0) >>> 0, (k1 + WEYL_1) >>> 0];
  }
  return [c0, c1, c2, c3];
}

/** The upper 32 of the 64 bits of a product of two words, by halves that a double holds exactly. */
export function multiplyHigh(a: number, b: number): number {
  const low = (a & 0xffff) * b;
  const high = (a >>> 16) * b;
  return Math.floor((Math.floor(low / 2 ** 16) + high) / 2 ** 16);
}
