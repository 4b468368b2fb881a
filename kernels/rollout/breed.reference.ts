import { createDraws, toUniform } from "../../src/stats/random/draws.ts";
import { drawNoise } from "./noise.reference.ts";

/** Streams of draws for the choice of a parent and for mutation; see breed.wgsl. */
export const BREEDING_STREAM = 5;

/** Settings that make the next generation. */
export interface Breeding {
  readonly seed: number;
  readonly generation: number;
  /** Two members of the present generation for each one of the next: members × 2. */
  readonly parents: Uint32Array<ArrayBuffer>;
  /** The first members of this number are unchanged copies of their first parent. */
  readonly elites: number;
  /** Probability that a number of another member is mutated. */
  readonly rate: number;
  readonly sigma: number;
}

/**
 * One row of the next generation, before it is rounded to f32: each number is either parent's (uniform crossover; lowest
 * bit of its word, 1: the second's) and mutated where the upper 24 bits as a number in [0, 1) are below the rate: plus
 * sigma times the noise that `Population.perturb` draws. Four parameters share a block of words.
 */
export function breedMember(
  { seed, generation, parents, elites, rate, sigma }: Breeding,
  member: number,
  rowOf: (member: number) => Float32Array,
): Float64Array {
  const [first, second] = [rowOf(parents[2 * member]!), rowOf(parents[2 * member + 1]!)];
  if (member < elites) return Float64Array.from(first);
  const noise = drawNoise({ seed, generation, mirrored: false }, member, first.length);
  const child = new Float64Array(first.length);
  for (let block = 0; 4 * block < child.length; block++) {
    const words = createDraws({ seed, stream: BREEDING_STREAM, member, episode: generation, step: block }).words();
    for (let index = 4 * block; index < Math.min(child.length, 4 * block + 4); index++) {
      const word = words[index % 4]!;
      const isMutated = toUniform(word) < Math.fround(rate);
      child[index] = ((word & 1) === 1 ? second : first)[index]! + (isMutated ? sigma * noise[index]! : 0);
    }
  }
  return child;
}
