import { createDraws, toNormals } from "../../src/stats/random/draws.ts";

/** Draws of perturbations; see noise.wgsl. */
export const NOISE_STREAM = 2;

/** Settings of the noise of a generation. */
export interface NoiseKey {
  readonly seed: number;
  readonly generation: number;
  /** Members 2n and 2n + 1 have the same noise with opposite signs. */
  readonly mirrored: boolean;
}

/** The most parts of a sum over members; the parts are added last, in order. */
const MAX_SPANS = 64;
const SHORTEST_SPAN = 64;

/** The parts of a sum over so many draws. They depend on the number alone, so every device has the same sum. */
export function partDraws(draws: number): { readonly spans: number; readonly drawsOfSpan: number } {
  const drawsOfSpan = Math.max(SHORTEST_SPAN, Math.ceil(draws / MAX_SPANS));
  return { spans: Math.ceil(draws / drawsOfSpan), drawsOfSpan };
}

/**
 * Standard normal noise of one member in f64, by the words that the devices draw it from; four numbers of a
 * block of four words.
 */
export function drawNoise({ seed, generation, mirrored }: NoiseKey, member: number, parameters: number): Float64Array {
  const drawn = mirrored ? member >>> 1 : member;
  const sign = mirrored && member % 2 === 1 ? -1 : 1;
  const noise = new Float64Array(4 * Math.ceil(parameters / 4));
  for (let block = 0; 4 * block < parameters; block++) {
    const key = { seed, stream: NOISE_STREAM, member: drawn, episode: generation, step: block };
    noise.set(toNormals(createDraws(key).words()), 4 * block);
  }
  return noise.subarray(0, parameters).map((number) => sign * number);
}

/** One member's row after `Population.perturb`, before it is rounded to f32. */
export function perturbMember(
  key: NoiseKey,
  member: number,
  { mean, sigma }: { readonly mean: ArrayLike<number>; readonly sigma: ArrayLike<number> },
): Float64Array {
  return drawNoise(key, member, mean.length).map((noise, index) => mean[index]! + sigma[index]! * noise);
}

/** The result of `Population.recombine` in f64. */
export function recombineMembers(
  key: NoiseKey,
  utilities: ArrayLike<number>,
  parameters: number,
): { readonly sums: Float64Array; readonly squares: Float64Array } {
  const sums = new Float64Array(parameters);
  const squares = new Float64Array(parameters);
  for (let member = 0; member < utilities.length; member++) {
    const utility = utilities[member]!;
    for (const [index, noise] of drawNoise(key, member, parameters).entries()) {
      sums[index]! += utility * noise;
      squares[index]! += utility * noise * noise;
    }
  }
  return { sums, squares };
}

/**
 * The factors of each draw's noise and of its square: utilities, or where noise is mirrored their difference and their
 * sum in each pair. An odd last member has no partner. Two numbers for each draw.
 */
export function pairUtilities(utilities: Float32Array, mirrored: boolean): Float32Array<ArrayBuffer> {
  if (!mirrored) return Float32Array.from({ length: 2 * utilities.length }, (_, index) => utilities[index >> 1]!);
  const pairs = new Float32Array(2 * Math.ceil(utilities.length / 2));
  for (let pair = 0; 2 * pair < utilities.length; pair++) {
    const [even, odd] = [utilities[2 * pair]!, utilities[2 * pair + 1] ?? 0];
    pairs[2 * pair] = even - odd;
    pairs[2 * pair + 1] = even + odd;
  }
  return pairs;
}
