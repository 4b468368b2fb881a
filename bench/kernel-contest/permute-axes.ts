/** A dense row-major array with its axes in another order: axis i of the result is axis `order[i]` of the values. */
export function permuteAxes(
  values: Float32Array,
  extents: readonly number[],
  order: readonly number[],
): Float32Array<ArrayBuffer> {
  const strides = extents.map((_, axis) => extents.slice(axis + 1).reduce((total, extent) => total * extent, 1));
  const result = new Float32Array(values.length);
  let next = 0;
  const walk = (depth: number, offset: number): void => {
    if (depth === order.length) {
      result[next++] = values[offset] ?? Number.NaN;
      return;
    }
    const axis = order[depth] ?? 0;
    for (let i = 0; i < (extents[axis] ?? 0); i++) walk(depth + 1, offset + i * (strides[axis] ?? 0));
  };
  walk(0, 0);
  return result;
}
