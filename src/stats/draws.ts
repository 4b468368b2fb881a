import { philox4x32 } from "./philox.ts";

/** What a draw is keyed by, beside its number: each is a word of 32 bits. */
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

/** Four standard normal numbers of a block of words, of which 24 bits count, by the transform of Box and Muller (1958). */
export function toNormals([a, b, c, d]: ReturnType<Draws["words"]>): [number, number, number, number] {
  return [...toNormalPair(a, b), ...toNormalPair(c, d)];
}

function toNormalPair(first: number, second: number): [number, number] {
  const radius = Math.sqrt(-2 * Math.log(toUniform(first) + 2 ** -24));
  const angle = 2 * Math.PI * toUniform(second);
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
}
