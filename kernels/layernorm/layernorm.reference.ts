import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** ε under the root, as in most networks. */
export const LAYERNORM_EPSILON = 1e-5;

/** y[rows × columns] = (x − mean) / √(variance + ε) · scale + shift along each row, in f64; the variance is Σ(x − mean)²/n. */
export function layernormReference(inputs: KernelArrays, shape: KernelShape<"rows" | "columns">): KernelReference {
  const { x, scale, shift } = inputs as { x: Float32Array; scale: Float32Array; shift: Float32Array };
  const { rows, columns } = shape;

  function summarise(row: number) {
    const values = Float64Array.from(x.subarray(row * columns, (row + 1) * columns));
    const mean = values.reduce((total, value) => total + value, 0) / columns;
    const variance = values.reduce((total, value) => total + (value - mean) ** 2, 0) / columns;
    return { row, mean, deviation: Math.sqrt(variance + LAYERNORM_EPSILON) };
  }

  let current = { row: -1, mean: 0, deviation: 1 };
  return {
    output: "y",
    length: rows * columns,
    elementFlops: 5 * columns,
    element(index) {
      const row = Math.floor(index / columns);
      if (row !== current.row) current = summarise(row);
      const column = index % columns;
      return ((x[index]! - current.mean) / current.deviation) * scale[column]! + shift[column]!;
    },
  };
}
