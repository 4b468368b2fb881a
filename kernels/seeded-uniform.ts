/** Mixes 32 bits so that every input bit reaches every output bit (C. Wellons, "lowbias32", bias 0.17). */
function mix(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/**
 * `length` values of [-amplitude, amplitude), a multiple of amplitude / 2²³ each and so exact in f32.
 * Counter-based: element i depends on seed, stream and i alone; streams of one seed are unrelated.
 */
export function seededUniform(seed: number, stream: number, length: number, amplitude = 1): Float32Array<ArrayBuffer> {
  const key = mix(mix(seed) ^ Math.imul(stream + 1, 0x9e3779b9));
  const values = new Float32Array(length);
  for (let i = 0; i < length; i++) {
    values[i] = ((mix(mix(i) ^ key) >>> 8) / 2 ** 23 - 1) * amplitude;
  }
  return values;
}
