import { drawWord } from "./seeded-words.ts";

/**
 * `length` values of [-amplitude, amplitude), a multiple of amplitude / 2²³ each and so exact in f32.
 * Counter-based: element i depends on seed, stream and i alone; streams of one seed are unrelated.
 */
export function seededUniform(seed: number, stream: number, length: number, amplitude = 1): Float32Array<ArrayBuffer> {
  const draw = drawWord(seed, stream);
  const values = new Float32Array(length);
  for (let i = 0; i < length; i++) {
    values[i] = ((draw(i) >>> 8) / 2 ** 23 - 1) * amplitude;
  }
  return values;
}
