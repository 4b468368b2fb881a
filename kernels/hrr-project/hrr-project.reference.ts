import type { KernelArrays, KernelReference, KernelShape } from "../kernel-spec.ts";

export type HrrProjectSize = "rows" | "inputs" | "outputs";

/** y[rows × outputs]: X·Wᵀ with rows of length 1, a row of zeros left as it is, in f64. Elements of one row in a row cost one pass. */
export function hrrProjectReference(
  arrays: KernelArrays,
  { rows, inputs, outputs }: KernelShape<HrrProjectSize>,
): KernelReference {
  const { x, w } = arrays as { x: Float32Array; w: Float32Array };

  function project(row: number): Float64Array<ArrayBuffer> {
    const values = new Float64Array(outputs).map((_, output) => {
      let sum = 0;
      for (let i = 0; i < inputs; i++) sum += x[row * inputs + i]! * w[output * inputs + i]!;
      return sum;
    });
    const norm = Math.sqrt(values.reduce((total, value) => total + value * value, 0));
    return norm === 0 ? values : values.map((value) => value / norm);
  }

  let current = { row: -1, values: new Float64Array() };
  return {
    output: "y",
    length: rows * outputs,
    elementFlops: 2 * inputs * outputs,
    element(index) {
      const row = Math.floor(index / outputs);
      if (row !== current.row) current = { row, values: project(row) };
      return current.values[index % outputs]!;
    },
  };
}
