/** All outputs as one, behind each other; their integers are small enough for f32. One of f32 is not copied. */
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
