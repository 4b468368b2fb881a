import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

/** y[rows × columns]: exp(x − max) / Σ exp(x − max) along each row, in f64. A row costs one pass. */
export function softmaxReference(inputs: KernelArrays, shape: KernelShape<"rows" | "columns">): KernelReference {
  const { x } = inputs as { x: Float32Array };
  const { rows, columns } = shape;

  function summarise(row: number) {
    const values = x.subarray(row * columns, (row + 1) * columns);
    const max = values.reduce((high, value) => Math.max(high, value), Number.NEGATIVE_INFINITY);
    return { max, sum: values.reduce((total, value) => total + Math.exp(value - max), 0) };
  }

  const summaries: ReturnType<typeof summarise>[] = [];
  return {
    output: "y",
    length: rows * columns,
    elementFlops: 10 * columns,
    element(index) {
      const row = Math.floor(index / columns);
      const { max, sum } = (summaries[row] ??= summarise(row));
      return Math.exp(x[index]! - max) / sum;
    },
  };
}
