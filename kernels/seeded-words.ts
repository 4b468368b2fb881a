/** Mixes 32 bits so that every input bit reaches every output bit (C. Wellons, "lowbias32", bias 0.17). */
function mix(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** Word i of 32 random bits, as an unsigned number: it depends on seed, stream and i alone; streams of one seed are unrelated. */
export function drawWord(seed: number, stream: number): (index: number) => number {
  const key = mix(mix(seed) ^ Math.imul(stream + 1, 0x9e3779b9));
  return (index) => mix(mix(index) ^ key);
}

/** `length` words with every bit random. Streams as `seededUniform`. */
export function seededWords(seed: number, stream: number, length: number): Int32Array<ArrayBuffer> {
  const draw = drawWord(seed, stream);
  const words = new Int32Array(length);
  for (let i = 0; i < length; i++) words[i] = draw(i);
  return words;
}
