/**
 * Lehmer's generator with the multiplier of Park, Miller and Stockmeyer (CACM 1993), uniform in (0, 1).
 * Its seed is a whole number from 1 to 2³¹ − 2; the same seed gives the same numbers.
 */
export function lehmer(seed = 20_261_121): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 0x7fffffff;
    return state / 0x7fffffff;
  };
}

/**
 * Whole numbers from 0 to `below` − 1 by the generator sfc32 (Doty-Humphrey, PractRand 0.95: a chaotic generator with a
 * counter, so that its period is 2³² at least). The same seed, a word of 32 bits, gives the same numbers. Far faster
 * than drawing by counter, for where numbers are drawn by the million in one place.
 */
export function sfc32(seed: number): (below: number) => number {
  let [a, b, c, counter] = [seed | 0, 0, 0, 1];
  const draw = (below: number): number => {
    const sum = (a + b + counter++) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return Math.floor((sum >>> 0) * 2 ** -32 * below);
  };
  // The first numbers of neighbouring seeds are alike.
  for (let round = 0; round < 15; round++) draw(1);
  return draw;
}
