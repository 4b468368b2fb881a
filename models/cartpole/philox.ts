/** Four u32 words. */
export type Words4 = readonly [number, number, number, number];
/** Two u32 words. */
export type Words2 = readonly [number, number];

/** The second key word of every use of the generator, so that no two draw the same numbers from one seed. */
export const STREAM = { reset: 0, randomPolicy: 1, searchNoise: 2, bootstrap: 3 } as const;

const MULTIPLIER_0 = 0xd2511f53;
const MULTIPLIER_1 = 0xcd9e8d57;
const WEYL_0 = 0x9e3779b9; // golden ratio
const WEYL_1 = 0xbb67ae85; // √3 − 1
const ROUNDS = 10;

/**
 * Philox4x32-10: four random u32 words as a pure function of a counter and a key, so that any draw of any
 * member or episode can be had alone and in any order.
 *
 * Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011; constants of Random123.
 */
export function philox4x32(counter: Words4, key: Words2): Words4 {
  let [c0, c1, c2, c3] = counter;
  let [k0, k1] = key;
  for (let round = 0; round < ROUNDS; round++) {
    const high0 = multiplyHigh(MULTIPLIER_0, c0);
    const high1 = multiplyHigh(MULTIPLIER_1, c2);
    const low0 = Math.imul(MULTIPLIER_0, c0);
    const low1 = Math.imul(MULTIPLIER_1, c2);
    [c0, c1, c2, c3] = [(high1 ^ c1 ^ k0) >>> 0, low1 >>> 0, (high0 ^ c3 ^ k1) >>> 0, low0 >>> 0];
    k0 = (k0 + WEYL_0) >>> 0;
    k1 = (k1 + WEYL_1) >>> 0;
  }
  return [c0, c1, c2, c3];
}

/** A u32 word as a number in the open interval (0, 1), so that its logarithm is finite. */
export function toUnitInterval(word: number): number {
  return (word + 0.5) / 2 ** 32;
}

/** The upper 32 bits of a u32 product, in halves: the whole one does not fit a double. */
function multiplyHigh(a: number, b: number): number {
  const [aLow, aHigh, bLow, bHigh] = [a & 0xffff, a >>> 16, b & 0xffff, b >>> 16];
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const carry = aLow * bHigh + (middle & 0xffff);
  return aHigh * bHigh + (middle >>> 16) + (carry >>> 16);
}
