/** All outputs concatenated; their integers are small enough for f32. A single f32 output is not copied. */
export function joinOutputs(outputs: readonly ArrayLike<number>[]): Float32Array {
  const [first] = outputs;
  if (outputs.length === 1 && first instanceof Float32Array) return first;
  const joined = new Float32Array(outputs.reduce((total, { length }) => total + length, 0));
  let offset = 0;
  for (const output of outputs) {
    joined.set(output, offset);
    offset += output.length;
  }
  return joined;
}
