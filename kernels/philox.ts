/**
 * Philox4x32-10: four random words of a counter and a key (Salmon, Moraes, Dror and Shaw, "Parallel random
 * numbers: as easy as 1, 2, 3", SC 2011). Every bit depends on counter and key alone, so any device in any
 * order draws the same. All are u32.
 */
export function philox(
  counter: readonly [number, number, number, number],
  key: readonly [number, number],
): [number, number, number, number] {
  let [c0, c1, c2, c3] = counter;
  let [k0, k1] = key;
  for (let round = 0; round < 10; round++) {
    const [high0, low0] = [multiplyHigh(0xd2511f53, c0), Math.imul(0xd2511f53, c0)];
    const [high1, low1] = [multiplyHigh(0xcd9e8d57, c2), Math.imul(0xcd9e8d57, c2)];
    [c0, c1, c2, c3] = [high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0];
    k0 = (k0 + 0x9e3779b9) >>> 0;
    k1 = (k1 + 0xbb67ae85) >>> 0;
  }
  return [c0 >>> 0, c1 >>> 0, c2 >>> 0, c3 >>> 0];
}

/** The upper 32 of the 64 bits of a product; of halves, since 64 bits are too many for a number. */
export function multiplyHigh(a: number, b: number): number {
  const [aHigh, aLow, bHigh, bLow] = [a >>> 16, a & 0xffff, b >>> 16, b & 0xffff];
  const upper = aHigh * bLow + ((aLow * bLow) >>> 16);
  const lower = aLow * bHigh + (upper & 0xffff);
  return (aHigh * bHigh + (upper >>> 16) + (lower >>> 16)) >>> 0;
}
