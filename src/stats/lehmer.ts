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
