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

/** Key of a draw, beside its number: each part is a word of 32 bits. */
export interface DrawKey {
  readonly seed: number;
  /** Keeps the draws of one purpose from those of another. */
  readonly stream: number;
  readonly member: number;
  readonly episode: number;
  readonly step: number;
}

/** Random words in the order of asking. Another source, such as a recorded tape, may stand in. */
export interface Draws {
  /** The next block of four words. */
  words(): readonly [number, number, number, number];
}

/** Draws by counter: the n-th block of a key is the same on every machine, whatever was drawn before. */
export function createDraws({ seed, stream, member, episode, step }: DrawKey): Draws {
  let draw = 0;
  return { words: () => philox4x32([member, episode, step, draw++], [seed, stream]) };
}

/** A number in [0, 1) of a word: its upper 24 bits, which a float holds exactly. */
export function toUniform(word: number): number {
  return (word >>> 8) * 2 ** -24;
}

/**
 * Four standard normal numbers of a block of words, 24 bits of each.
 * Source: Box and Muller, 1958.
 */
export function toNormals([a, b, c, d]: ReturnType<Draws["words"]>): [number, number, number, number] {
  return [...toNormalPair(a, b), ...toNormalPair(c, d)];
}

function toNormalPair(first: number, second: number): [number, number] {
  const radius = Math.sqrt(-2 * Math.log(toUniform(first) + 2 ** -24));
  const angle = 2 * Math.PI * toUniform(second);
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
}

/**
 * Times of a Poisson process in milliseconds from the start, without end: gaps are exponential, drawn by inversion
 * from a counter-based generator, so that a seed always means the same trace.
 */
export function* drawPoissonArrivals(ratePerSecond: number, seed: number): Generator<number, never> {
  for (let index = 0, atMs = 0; ; index++) {
    const [word] = philox4x32([index, 0, 0, 0], [seed, 0]);
    // In (0, 1): the logarithm is finite.
    atMs -= (Math.log((word + 0.5) / 2 ** 32) / ratePerSecond) * 1e3;
    yield atMs;
  }
}
